"""python -m cocco.cli"""

import sys

from cocco.cli import main

if __name__ == "__main__":
    sys.exit(main())
