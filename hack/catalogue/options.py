"""Reads options off an engine's own argparse parser, as the catalogue writes them."""
import argparse
import contextlib
import enum
import io
import re

import stubs

ACTIONS = {
    "EnableDisableAction": "boolean_optional", "BooleanOptionalAction": "boolean_optional", "DeprecatedAction": "ignored",
    "DeprecatedStoreTrueAction": "store_true", "DeprecatedStoreConstAction": "store_const", "DeprecatedAliasStoreAction": "store",
}
SWITCHES = ("store_true", "store_false", "boolean_optional", "store_boolean", "ignored")
PROBES = ("7", "1k", "0.5", "abc", '{"a": 1}', "auto", "true", "a=b")


def plain(value):
    """A default, a constant or a choice as JSON has it."""
    if isinstance(value, enum.Enum):
        return plain(value.value)
    if value is None or isinstance(value, (str, bool, int)):
        return value
    if isinstance(value, float):
        return value if value == value and abs(value) != float("inf") else str(value)
    if isinstance(value, (list, tuple)):
        return [plain(item) for item in value]
    if isinstance(value, (set, frozenset)):
        return sorted((plain(item) for item in value), key=str)
    if isinstance(value, dict):
        return {str(plain(key)): plain(item) for key, item in value.items()}
    return f"<{type(value).__name__}>"


def action_of(action):
    name = type(action).__name__
    if name in ACTIONS:
        return ACTIONS[name]
    name = re.sub(r"Action$", "", name.lstrip("_"))
    return re.sub(r"(?<=[a-z])(?=[A-Z])", "_", name).lower()


def tried(convert, text):
    """What a type makes of a text; None where it refuses."""
    with contextlib.redirect_stderr(io.StringIO()):
        try:
            return convert(text)
        except BaseException:
            return None


def type_of(convert, action):
    """The type of one value, told by what the parser's own converter makes of some texts."""
    if action in SWITCHES:
        return "bool", False
    if convert is None:
        return ("const" if action == "store_const" else "str"), False
    made = {text: tried(convert, text) for text in PROBES}
    whole = isinstance(made["7"], int) and not isinstance(made["7"], bool)
    suffixes = made["1k"] == 1000
    if suffixes:
        return ("human_int_auto" if made["auto"] == -1 else "human_int"), True
    if made["abc"] == "abc":
        return ("str_or_json" if made['{"a": 1}'] == {"a": 1} else "str"), False
    if made['{"a": 1}'] == {"a": 1}:
        return "json", False
    if isinstance(made["0.5"], float):
        return "float", False
    if whole:
        return "int", False
    if isinstance(made["true"], bool):
        return "bool", False
    if isinstance(made["abc"], list):
        return "list", False
    if isinstance(made["a=b"], dict):
        return "key_value", False
    return getattr(convert, "__name__", type(convert).__name__), False


SELF_DEPRECATED = re.compile(
    r"^\W*(?:note:\s*)?(?:this (?:flag|option|argument) (?:is|has been) |\S+ is )?deprecat"
    r"|this (?:flag|option|argument)\s+(?:is|has been)\s+deprecat", re.I)
SUCCESSOR = re.compile(r"(?:use|replaced by|renamed to|superseded by|favou?r of|instead of|alias (?:for|of))\W{0,3}(--[a-z0-9][a-z0-9-]*)", re.I)


def deprecated_of(action, parser):
    """False, True, or the option that the engine names instead. Of a help text only that mark is taken."""
    named = getattr(action, "new_flag", None)
    if named:
        return named
    marked = action in getattr(parser, "_deprecated", ()) or getattr(action, "deprecated", False) or type(action).__name__.startswith("Deprecated")
    text = action.help if isinstance(action.help, str) else ""
    if not marked and not SELF_DEPRECATED.search(text):
        return False
    for flag in SUCCESSOR.findall(text):
        if flag not in action.option_strings:
            return flag
    return True


def negatives_of(action):
    if hasattr(action, "negative_option_strings"):
        return set(action.negative_option_strings)
    if isinstance(action, argparse.BooleanOptionalAction):
        return {name for name in action.option_strings if name.startswith("--no-")}
    return set()


def choices_of(action):
    """The values that the parser lists, and whether it lists them only for people (metavar)."""
    choices, only_shown = action.choices, False
    if choices is None and isinstance(action.metavar, str):
        shown = re.match(r"^\{([^{}]+)\}", action.metavar)
        choices, only_shown = (shown.group(1).split(","), True) if shown else (None, False)
    if choices is None:
        return None, False
    listed = [plain(choice) for choice in choices if choice is not None]
    return sorted(listed, key=lambda c: (str(type(c)), c if isinstance(c, (int, float)) else 0, str(c))), only_shown


def options(parser, engine):
    """Every option of a parser: its canonical flag, its names, and its life in this release."""
    names = {}
    for spelled, action in parser._option_string_actions.items():
        names.setdefault(id(action), []).append(spelled)
    found = []
    for action in parser._actions:
        if not action.option_strings or isinstance(action, (argparse._HelpAction, argparse._VersionAction)):
            continue
        default = parser.get_default(action.dest) if action.default is not argparse.SUPPRESS else argparse.SUPPRESS
        for what, value in (("default", default), ("type", action.type)):
            if stubs.is_stub(value):
                raise SystemExit(f"the {what} of {action.option_strings[0]} comes out of a stub: install what it needs")
        kind = action_of(action)
        negatives = negatives_of(action)
        own = [name for name in action.option_strings if name not in negatives]
        flag = next((name for name in own if name.startswith("--")), own[0])
        value_type, suffixes = type_of(action.type, kind)
        choices, shown = choices_of(action)
        if engine == "sglang" and suffixes:
            value_type = "int"
        life = {
            "names": [flag] + sorted(set(names.get(id(action), own)) - {flag}), "action": kind, "type": value_type,
            "nargs": None if action.nargs == 0 else action.nargs, "choices": choices, "open": shown, "default": plain(default),
            "deprecated": deprecated_of(action, parser),
        }
        if engine == "sglang":
            life.update(dest=action.dest, required=bool(action.required))
            life.update({"suffixes": True} if suffixes else {})
        elif action.required:
            life["required"] = True
        constant = getattr(action, "const_value", action.const)
        if kind == "store_const" or kind == "store" and action.nargs == "?" and constant is not None:
            life["const"] = plain(constant)
        found.append({"flag": flag, "names": life["names"], "life": life})
    return sorted(found, key=lambda entry: entry["flag"])
