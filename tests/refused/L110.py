"""A module without source, beside which lies what was frozen of other code."""

import importlib.util
import json
import tempfile
from pathlib import Path

from lawful import Machine

folder = Path(tempfile.mkdtemp())
python = importlib.util.MAGIC_NUMBER.hex()
frozen = {"format": "lawful-frozen", "version": 2, "python": python, "codes": {"": []}}
(folder / "gate.lawful.json").write_text(json.dumps({**frozen, "machines": {"Gate": None}}))

code = compile("class Gate(Machine):\n    sent: int = 0\n", "L110.py", "exec")
exec(code, {"Machine": Machine, "__name__": "gate", "__file__": str(folder / "gate.py")})
