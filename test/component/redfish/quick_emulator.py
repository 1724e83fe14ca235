"""Runs sushy-emulator with systems that turn on and off within one to two seconds. The original takes up to eleven seconds,
at random."""

import sys
from types import SimpleNamespace

from sushy_tools.emulator.main import main
from sushy_tools.emulator.resources.systems import fakedriver

fakedriver.random = SimpleNamespace(randint=lambda *_: 2)

if __name__ == "__main__":
    sys.exit(main())
