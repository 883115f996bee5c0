#!/usr/bin/env python
"""The command line of a checkout."""

from pevsite.command_line import main

if __name__ == "__main__":
    main()
