#!/usr/bin/env python3
"""Lists what vLLM's registry knows about each model architecture.

    hack/architectures.py VLLM-CHECKOUT REVISION > hardware/architectures.txt

The sources are parsed, not imported. A line is the name of an architecture and
its traits: `text`, `multimodal` or `pooling` by the dictionary it stands in,
`hybrid` and `attention-free` by the interfaces of its class, `encoder-decoder`
where its module attends across to an encoder, and `experts`
where its name says so, or its module, or that of a model it wraps, can build
expert layers; not where the registry has a Moe twin of that name beside it.
One whose class the sources do not define is left out.
"""

import ast
import pathlib
import sys

GROUPS = {
    "_TEXT_GENERATION_MODELS": "text",
    "_MULTIMODAL_MODELS": "multimodal",
    "_EMBEDDING_MODELS": "pooling",
    "_LATE_INTERACTION_MODELS": "pooling",
    "_REWARD_MODELS": "pooling",
    "_TOKEN_CLASSIFICATION_MODELS": "pooling",
    "_SEQUENCE_CLASSIFICATION_MODELS": "pooling",
}
INTERFACES = {"IsHybrid": "hybrid", "IsAttentionFree": "attention-free"}
INTERFACE_MODULES = ("interfaces", "interfaces_base", "utils", "registry")


def parse(checkout):
    """Classes by name: (module, node); the modules that build experts; those that attend across."""
    classes, builders, across = {}, set(), set()
    for folder in ("model_executor/models", "models"):
        root = checkout / "vllm" / folder
        for path in sorted(root.rglob("*.py")):
            text = path.read_text()
            module = path.relative_to(root).with_suffix("").as_posix()
            if path.stem not in INTERFACE_MODULES and ("FusedMoE" in text or "init_vllm_registered_model" in text):
                builders.add(module)
            for node in ast.parse(text).body:
                if isinstance(node, ast.ClassDef):
                    classes.setdefault(node.name, []).append((module, node))
                ours = isinstance(node, ast.ImportFrom) and not (node.module or "").startswith("transformers")
                if ours and any(alias.name.endswith("CrossAttention") for alias in node.names):
                    across.add(module)
    return classes, builders, across


def names(nodes):
    return {n.id for node in nodes for n in ast.walk(node) if isinstance(n, ast.Name)}


def ancestors(name, classes):
    seen, todo = set(), [name]
    while todo:
        name = todo.pop()
        if name not in seen:
            seen.add(name)
            todo += [base for _, node in classes.get(name, []) for base in names(node.bases)]
    return seen


def builds_experts(name, classes, builders, served, seen):
    seen.add(name)
    family = [entry for a in ancestors(name, classes) for entry in classes.get(a, [])]
    if any(module in builders for module, _ in family):
        return True
    modules = {module for module, _ in classes[name]}
    used = names(node for _, node in classes[name]) & set(classes)
    wrapped = {u for u in used if u in served or modules & {module for module, _ in classes[u]}}
    return any(builds_experts(w, classes, builders, served, seen) for w in sorted(wrapped - seen))


def registry(checkout):
    """Traits of each architecture by its dictionaries, and its class."""
    groups, class_of = {}, {}
    path = checkout / "vllm/model_executor/models/registry.py"
    for node in ast.parse(path.read_text()).body:
        if not isinstance(node, ast.Assign) or getattr(node.targets[0], "id", "") not in GROUPS:
            continue
        for key, value in zip(node.value.keys, node.value.values):
            if isinstance(key, ast.Constant) and isinstance(value, ast.Tuple):
                groups.setdefault(key.value, set()).add(GROUPS[node.targets[0].id])
                class_of[key.value] = value.elts[1].value
    return groups, class_of


def main(checkout, revision):
    checkout = pathlib.Path(checkout)
    classes, builders, across = parse(checkout)
    groups, class_of = registry(checkout)
    served = set(class_of.values())
    print(f"# vLLM {revision} vllm/model_executor/models/registry.py, by hack/architectures.py")
    for name in sorted(groups):
        if class_of[name] not in classes:
            continue
        family = ancestors(class_of[name], classes)
        traits = sorted(groups[name]) + [INTERFACES[i] for i in sorted(INTERFACES) if i in family]
        if across & {module for module, _ in classes[class_of[name]]}:
            traits.append("encoder-decoder")
        twin = name.replace("For", "MoeFor", 1)
        if "moe" in name.lower() or twin not in groups and builds_experts(class_of[name], classes, builders, served, set()):
            traits.append("experts")
        print(name, *traits)


if __name__ == "__main__":
    main(*sys.argv[1:])
