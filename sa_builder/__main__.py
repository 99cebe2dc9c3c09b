"""`python -m sa_builder` is `sa-builder`."""

import sys

from sa_builder.cli.main import main

sys.exit(main())
