"""sushy-emulator whose systems turn on and off one to two seconds after they are told to, and not after up to eleven by its dice."""

import sys
from types import SimpleNamespace

from sushy_tools.emulator.main import main
from sushy_tools.emulator.resources.systems import fakedriver

fakedriver.random = SimpleNamespace(randint=lambda *_: 2)

if __name__ == "__main__":
    sys.exit(main())
