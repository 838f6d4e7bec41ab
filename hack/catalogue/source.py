"""Reads variables and metrics off the text of an engine's source: nothing of it is run."""
import ast
import os
import re

VARIABLE = re.compile(r"^[A-Z][A-Z0-9_]{2,}$")
READERS = {"os.getenv", "getenv", "os.environ.get", "environ.get", "os.environ.pop"}
HELPERS = {"get_bool_env_var": "bool", "get_int_env_var": "int", "get_float_env_var": "float"}
DECLARED = {"EnvBool": "bool", "EnvInt": "int", "EnvFloat": "float", "EnvStr": "str", "EnvTuple": "list"}
KINDS = ("gauge", "counter", "histogram", "summary")


def trees(root, package):
    """Each module of a package, by its path below the root; those of its tests are left out."""
    for folder, folders, files in os.walk(os.path.join(root, package)):
        folders[:] = sorted(f for f in folders if f not in ("test", "tests", "__pycache__"))
        for name in sorted(files):
            if not name.endswith(".py"):
                continue
            path = os.path.join(folder, name)
            with open(path, encoding="utf-8", errors="replace") as file:
                text = file.read()
            try:
                yield os.path.relpath(path, root), text, ast.parse(text)
            except SyntaxError:
                continue  # a template of a kernel


def dotted(node):
    if isinstance(node, ast.Attribute):
        base = dotted(node.value)
        return f"{base}.{node.attr}" if base else node.attr
    return node.id if isinstance(node, ast.Name) else ""


def literal(node):
    """The value of an expression that is one, else its text."""
    if node is None:
        return None
    try:
        value = ast.literal_eval(node)
    except (ValueError, TypeError, SyntaxError):
        return "expr: " + ast.unparse(node)[:120]
    return sorted(value) if isinstance(value, (set, frozenset)) else list(value) if isinstance(value, tuple) else value


def argument(call, index, name):
    if len(call.args) > index:
        return call.args[index]
    return next((keyword.value for keyword in call.keywords if keyword.arg == name), None)


def kind_by_use(node, above):
    """How the text that a read gives is used, by the expressions around it; None where they do not tell."""
    for _ in range(4):
        node = above.get(node)
        if isinstance(node, ast.Call) and dotted(node.func) in ("int", "float"):
            return dotted(node.func)
        if isinstance(node, ast.Compare) or isinstance(node, ast.Call) and dotted(node.func) in ("bool", "strtobool"):
            return "bool"
        if isinstance(node, ast.Attribute) and node.attr == "split":
            return "list"
        if not isinstance(node, (ast.Attribute, ast.Call, ast.BoolOp)):
            return None
    return None


def reads(tree):
    """Where a module reads its environment: name, how its text is used, default."""
    above = {child: node for node in ast.walk(tree) for child in ast.iter_child_nodes(node)}
    for node in ast.walk(tree):
        name, kind, default = None, None, None
        if isinstance(node, ast.Call) and node.args:
            called = dotted(node.func)
            helper = HELPERS.get(called.split(".")[-1])
            if called in READERS or helper:
                name, default = node.args[0], argument(node, 1, "default")
                kind = helper or kind_by_use(node, above) or ("str" if default is not None else None)
        elif isinstance(node, ast.Subscript) and isinstance(node.ctx, ast.Load) and dotted(node.value) in ("os.environ", "environ"):
            name, kind = node.slice, kind_by_use(node, above)
        elif isinstance(node, ast.Compare) and len(node.ops) == 1 and isinstance(node.ops[0], (ast.In, ast.NotIn)) \
                and dotted(node.comparators[0]) in ("os.environ", "environ"):
            name = node.left
        if isinstance(name, ast.Constant) and isinstance(name.value, str) and VARIABLE.match(name.value):
            yield name.value, kind, literal(default)


def table_of(tree):
    """The entries of vLLM's table of variables: name and the expression that reads it."""
    for node in ast.walk(tree):
        target = node.target if isinstance(node, ast.AnnAssign) else node.targets[0] if isinstance(node, ast.Assign) else None
        if dotted(target) == "environment_variables" and isinstance(node.value, ast.Dict):
            for key, value in zip(node.value.keys, node.value.values):
                if isinstance(key, ast.Constant):
                    yield key.value, value.body if isinstance(value, ast.Lambda) else value


TEXT_KINDS = (
    ("bool(int(", "bool"), ("maybe_convert_bool", "bool"), ("('1', 'true')", "bool_word"), ("('true', '1')", "bool_word"),
    ("== '1'", "bool_eq"), ("!= '0'", "bool_eq"), ("json", "json"), ("int(", "int"), ("maybe_convert_int", "int"), ("float(", "float"),
    (".split(", "list"), ("expanduser", "path"), ("abspath", "path"), ("bool(", "bool_any"),
)


def declared_in_table(name, reader):
    """A variable of vLLM's table: how its text is read, and its default."""
    life = {"kind": "str", "default": None}
    if isinstance(reader, ast.Call) and dotted(reader.func).startswith("env_") and "choices" in dotted(reader.func):
        choices = literal(argument(reader, 2, "choices"))
        case = literal(argument(reader, 3, "case_sensitive"))
        life.update(kind="choice" if dotted(reader.func) == "env_with_choices" else "choice_list", default=literal(argument(reader, 1, "default")))
        life["choices"] = sorted(map(str, choices)) if isinstance(choices, list) else None
        life.update({} if life["choices"] else {"open": True}, **({"case_sensitive": False} if case is False else {}))
        return life
    text = ast.unparse(reader)
    life["kind"] = next((kind for mark, kind in TEXT_KINDS if mark in text), "str")
    for read, _, default in reads(ast.Module([ast.Expr(reader)], [])):
        if read == name and default is not None:
            life["default"] = default if isinstance(default, str) else str(default)
            if life["default"].startswith("expr: "):
                life.update(default=None, default_expr=life["default"][6:])
    return life


def variables_vllm(root):
    found = {}
    for path, text, tree in trees(root, "vllm"):
        if path == os.path.join("vllm", "envs.py"):
            for name, reader in table_of(tree):
                found[name] = declared_in_table(name, reader)
    for path, text, tree in trees(root, "vllm"):
        if "environ" in text or "getenv" in text:
            for name, _, default in reads(tree):
                if name not in found or found[name].get("where"):
                    default = default if default is None or isinstance(default, str) else str(default)
                    found.setdefault(name, {"kind": None, "default": default, "where": "scattered"})
    return found


def scope_of(where):
    """Which program of SGLang reads a file."""
    if where.startswith("multimodal_gen/"):
        return "diffusion"
    client = ("bench_", "benchmark/", "auto_benchmark", "check_env", "profiler.py", "eval/", "lang/")
    return "client" if where.startswith(client) else "server"


def variables_sglang(root):
    found, declared, scopes = {}, {}, {}
    for path, text, tree in trees(root, "sglang"):
        where = os.path.relpath(path, "sglang")
        for name, kind, default in reads(tree):
            scopes.setdefault(name, set()).add(scope_of(where))
            found.setdefault(name, {"kind": kind, "default": default, "where": where, "read": True, "declared": False})
        if not where.endswith(("environ.py", "envs.py")):
            continue
        for cls in (node for node in ast.walk(tree) if isinstance(node, ast.ClassDef)):
            for line in cls.body:
                target = line.targets[0] if isinstance(line, ast.Assign) else getattr(line, "target", None)
                call = getattr(line, "value", None)
                if VARIABLE.match(dotted(target) or "") and isinstance(call, ast.Call) and "Env" in dotted(call.func):
                    kind = DECLARED.get(dotted(call.func).split(".")[-1])
                    declared[target.id] = {"kind": kind, "default": literal(argument(call, 0, "default")), "where": where, "declared": True}
                    scopes.setdefault(target.id, set()).add(scope_of(where))
    used = " ".join(text for path, text, _ in trees(root, "sglang") if not path.endswith(("environ.py", "envs.py")))
    for name, life in declared.items():
        found[name] = dict(life, read=name in found or re.search(r"\benvs?\." + name + r"\b", used) is not None)
    return {name: dict(life, scope="+".join(sorted(scopes[name]))) for name, life in found.items()}


def metric_kind(called):
    last = re.sub(r"(_cls|wrapper)$", "", called.split(".")[-1].lower().strip("_"))
    return next((kind for kind in KINDS if last in (kind, "ray" + kind)), None)


class Metrics(ast.NodeVisitor):
    """The metrics that a module registers, each under the conditions around it."""

    def __init__(self, prefix):
        self.prefix, self.conditions, self.constants, self.found = prefix, [], {}, []
        self.class_name, self.function = None, None

    def visit_ClassDef(self, node):
        self.class_name, outer = node.name, self.class_name
        self.generic_visit(node)
        self.class_name = outer

    def visit_Assign(self, node):
        value = literal(node.value)
        if isinstance(value, (str, list)):
            self.constants[dotted(node.targets[0])] = value
        self.generic_visit(node)

    def visit_If(self, node):
        test = " ".join(ast.unparse(node.test).split())
        for body, condition in ((node.body, test), (node.orelse, f"not ({test})")):
            self.conditions.append(condition)
            for line in body:
                self.visit(line)
            self.conditions.pop()

    def visit_FunctionDef(self, node):
        before, outer = len(self.conditions), self.function
        self.function = node.name
        for line in node.body:
            self.visit(line)
            if isinstance(line, ast.If) and not line.orelse and isinstance(line.body[-1], ast.Return):
                self.conditions.append(f"not ({' '.join(ast.unparse(line.test).split())})")  # the rest runs otherwise
        del self.conditions[before:]
        self.function = outer

    def visit_Call(self, node):
        kind, name = metric_kind(dotted(node.func)), argument(node, 0, "name")
        name = self.constants.get(dotted(name)) if isinstance(name, (ast.Name, ast.Attribute)) else literal(name)
        if kind and isinstance(name, str) and name.startswith(self.prefix):
            labels, inherits = self.labels(argument(node, 2, "labelnames"))
            self.found.append({
                "name": name, "kind": kind, "labels": labels, "inherits": inherits, "condition": " and ".join(self.conditions) or None,
                "class": self.class_name, "fn": self.function,
            })
        self.generic_visit(node)

    def labels(self, node):
        """The labels beside those that a collector gives to all, None where they are computed; and whether it does."""
        if node is None:
            return [], False
        if isinstance(node, ast.BinOp):
            left, right = self.labels(node.left), self.labels(node.right)
            return (None if left[0] is None or right[0] is None else left[0] + right[0]), left[1] or right[1]
        if isinstance(node, ast.Call):
            return self.labels(node.args[0] if node.args else node.func.value if isinstance(node.func, ast.Attribute) else None)
        value = self.constants.get(dotted(node), literal(node))
        if isinstance(value, list):
            return value, False
        inherits = dotted(node).split(".")[-1] in ("labels", "labelnames")
        return ([] if inherits else None), inherits


def series_of(exposed, kind):
    ends = {"histogram": ("_bucket", "_sum", "_count"), "summary": ("_sum", "_count")}.get(kind, ("",))
    return [exposed + end for end in ends]


def metrics(root, package):
    found = {}
    for path, text, tree in trees(root, package):
        if package + ":" not in text:
            continue
        reader = Metrics(package + ":")
        reader.visit(tree)
        for way in reader.found:
            found.setdefault(way["name"], []).append(dict(way, path=path))
    lives = {}
    for name, ways in found.items():
        first, conditions = ways[0], [way["condition"] for way in ways]
        condition = None if None in conditions else " or ".join(sorted(set(conditions)))
        exposed = name if first["kind"] != "counter" or name.endswith("_total") else name + "_total"
        life = {"kind": first["kind"], "labels": first["labels"]}
        if package == "vllm":
            own = first["path"].startswith((os.path.join("vllm", "v1", "metrics"), os.path.join("vllm", "v1", "spec_decode")))
            lives[exposed] = dict(life, condition=condition, engines=["v1" if own else "other"], **({} if own else {"file": first["path"]}))
            continue
        life.update(inherits=first["inherits"], exposed=exposed, series=series_of(exposed, first["kind"]), where=first["path"], fn=first["fn"])
        life.update({"class": first["class"]} if first["class"] else {}, **({"cond": condition} if condition else {}))
        lives[name] = life
    return lives
