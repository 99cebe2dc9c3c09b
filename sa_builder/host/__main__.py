"""`python -m sa_builder.host`: started by the runtime, never by hand."""

from __future__ import annotations

import sys

from sa_builder.host.main import main

sys.exit(main())
