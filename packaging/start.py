"""Where the bundle starts: the command line, which also is the window and the code host."""

import sys

from sa_builder.cli.main import main

sys.exit(main())
