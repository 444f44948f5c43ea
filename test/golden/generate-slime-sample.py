"""Writes slime-sample.json: the fields of slime's Sample and the values of its status.

generate-slime-sample.py CHECKOUT
"""

import dataclasses
import json
import pathlib
import subprocess
import sys


def main(checkout):
    sys.path.insert(0, checkout)
    from slime.utils.types import Sample

    commit = subprocess.run(
        ["git", "-C", checkout, "rev-parse", "HEAD"], capture_output=True, text=True, check=True
    ).stdout.strip()
    fields = {field.name: str(field.type) for field in dataclasses.fields(Sample)}
    found = {
        "source": "slime",
        "commit": commit,
        "class": "slime.utils.types.Sample",
        "fields": fields,
        "status": [status.value for status in Sample.Status],
    }
    path = pathlib.Path(__file__).with_name("slime-sample.json")
    path.write_text(json.dumps(found, indent=2) + "\n")


if __name__ == "__main__":
    main(sys.argv[1])
