import argparse
import json

from vllm.broken import Nothing  # its own import fails


def human(text):
    return int(text[:-1]) * 1000 if text.endswith("k") else int(text)


def make_arg_parser(parser):
    parser.add_argument("--dtype", choices=["half", "auto"], default="auto")
    parser.add_argument("--tensor-parallel-size", "-tp", type=int, default=1)
    parser.add_argument("--max-model-len", type=human)
    parser.add_argument("--extra-config", type=json.loads)
    parser.add_argument("--enable-thing", action=argparse.BooleanOptionalAction)
    parser.add_argument("--old-thing", action="store_true", help="This flag is deprecated, use --enable-thing instead.")
    parser.add_argument("--names", nargs="+", metavar="{a,b}")
    return parser
