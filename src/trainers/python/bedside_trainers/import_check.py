"""Import check: imports modules given as `module=distribution`, in order, and prints a JSON line for each."""

from __future__ import annotations

import importlib
import json
import sys
from importlib import metadata


def main(pairs: list[str]) -> None:
    torch = None
    for pair in pairs:
        name, distribution = pair.split("=", 1)
        module = importlib.import_module(name)
        if name == "torch":
            torch = module
        version = metadata.version(distribution)
        print(json.dumps({"module": name, "version": version}), flush=True)
    if torch is not None:
        cuda = torch.cuda.is_available()
        device = f"cuda ({torch.cuda.get_device_name(0)})" if cuda else "cpu"
        print(json.dumps({"device": device}), flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
