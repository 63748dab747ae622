"""`python -m faithbook run|build|book|plan|train|reference`."""

import sys

from faithbook.engine.runner import main

sys.exit(main())
