#!/usr/bin/env python3
"""Writes down what one release of an engine has: options, variables, metrics.

    hack/catalogue/extract.py ENGINE SOURCE VERSION [DATE] > release.json

SOURCE is the folder that holds the engine's package: an unpacked wheel or source archive, or the site-packages of an
installation. The real parser is built; what it imports and is not installed becomes a stub. A default or a type that
comes out of a stub is an error that says so: install that library and run again. `go run ./hack/pack release.json`
merges the result into engines/.
"""
import argparse
import importlib
import json
import os
import sys

import options
import source
import stubs


def named(*places):
    """The first of some functions, as MODULE:NAME, that the release has."""
    for place in places:
        module, name = place.split(":")
        try:
            found = importlib.import_module(module)
        except ImportError:
            continue  # the release has another layout
        if not isinstance(found, stubs.Stub) and hasattr(found, name):
            return getattr(found, name)
    failed = "; ".join(f"{m}: {sys.modules[m].__dict__.get('__stubbed_for__', 'not there')}" for m in {p.split(":")[0] for p in places} if m in sys.modules)
    raise SystemExit(f"none of {', '.join(places)} can be imported ({failed}); what was stubbed: {', '.join(sorted(stubs.stubbed))}")


def parser_sglang():
    parser = argparse.ArgumentParser(prog="sglang")
    named("sglang.srt.server_args:ServerArgs").add_cli_args(parser)
    return parser


def parser_vllm():
    make = named("vllm.entrypoints.launchers.cli_args:make_arg_parser", "vllm.entrypoints.common.cli_args:make_arg_parser", "vllm.entrypoints.openai.cli_args:make_arg_parser")
    flexible = named("vllm.utils.argparse_utils:FlexibleArgumentParser", "vllm.utils:FlexibleArgumentParser")
    return make(flexible())


ENGINES = {"sglang": (parser_sglang, source.variables_sglang), "vllm": (parser_vllm, source.variables_vllm)}


def entries(key, lives):
    return [{key: name, "life": lives[name]} for name in sorted(lives)]


def main():
    if len(sys.argv) not in (4, 5) or sys.argv[1] not in ENGINES:
        raise SystemExit(f"usage: extract.py {'|'.join(ENGINES)} SOURCE VERSION [YYYY-MM-DD]")
    engine, root, version, date = (sys.argv[1:] + [""])[:4]
    if not os.path.isdir(os.path.join(root, engine)):
        raise SystemExit(f"{root} holds no folder {engine}: name the folder that holds the package")
    for name in list(os.environ):
        if name.startswith((engine.upper() + "_", "HF_", "CUDA_")):
            del os.environ[name]  # a default may be read from them
    sys.path.insert(0, root)
    stubs.install(engine)
    build, variables = ENGINES[engine]
    out, sys.argv = sys.stdout, [engine]
    sys.stdout = sys.stderr  # what the engine prints is no part of the result
    release = {
        "engine": engine, "version": version, "date": date,
        "options": options.options(build(), engine),
        "env": entries("env", variables(root)),
        "metrics": entries("metric", source.metrics(root, engine)),
    }
    json.dump(release, out, indent=1)
    out.write("\n")


if __name__ == "__main__":
    main()
