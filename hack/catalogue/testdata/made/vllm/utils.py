import argparse

import heavy_kernels  # not installed anywhere
from heavy_kernels.ops import launch


class FlexibleArgumentParser(argparse.ArgumentParser):
    _deprecated = set()


@launch
def unused():
    return heavy_kernels.run(1) | 2
