"""Parses command lines with Python's own argparse: one JSON document a line on
stdin, {"options": [...], "positional": ..., "lines": [[...], ...]}, and one on
stdout, a list of what argparse says to each line."""
import argparse
import json
import sys


class Refused(Exception):
    pass


class Parser(argparse.ArgumentParser):
    def error(self, message):
        raise Refused(message)

    def exit(self, status=0, message=None):
        raise Refused("help")


TYPES = {"int": int, "float": float, "str": str}


def build(table):
    parser = Parser(prog="x")
    for o in table["options"]:
        keys = {"dest": o["dest"]}
        if o["action"] == "boolean_optional":
            keys["action"] = argparse.BooleanOptionalAction
        elif o["action"] != "store":
            keys["action"] = o["action"]
        if o["action"] in ("store", "append"):
            keys["type"] = TYPES[o["type"]]
            if o.get("nargs"):
                keys["nargs"] = int(o["nargs"]) if o["nargs"].isdigit() else o["nargs"]
            if o.get("choices"):
                keys["choices"] = [TYPES[o["type"]](c) for c in o["choices"]]
        if o.get("required"):
            keys["required"] = True
        parser.add_argument(*o["names"], **keys)
    if table.get("positional"):
        parser.add_argument("model", nargs="?" if table["positional"] == "?" else None)
    return parser


def plain(value):
    if isinstance(value, list):
        return [plain(v) for v in value]
    return value if value is None or isinstance(value, bool) else str(value)


def run(parser, line):
    try:
        namespace, extras = parser.parse_known_args(line)
    except Refused as refusal:
        return {"error": str(refusal)}
    return {"values": {k: plain(v) for k, v in vars(namespace).items()}, "extras": extras}


for text in sys.stdin:
    table = json.loads(text)
    parser = build(table)
    print(json.dumps([run(parser, line) for line in table["lines"]]), flush=True)
