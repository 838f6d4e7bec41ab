"""Imports an engine's command line without what it runs on.

A module that is neither of the engine, nor installed, nor of Python itself becomes a stub that has every name, and so
does a module of the engine whose own import fails, unless it is one that must be real. `stubbed` names them all.
"""
import importlib.abc
import importlib.machinery
import sys
import types

stubbed = set()


class Anything(type):
    """A class that has every attribute, and is accepted wherever one is: as a base, in a union, as a decorator."""

    def __getattr__(cls, name):
        if name.startswith("__"):
            raise AttributeError(name)
        return stub_class(name)

    def __getitem__(cls, _):
        return cls

    def __or__(cls, other):
        return cls

    __ror__ = __or__

    def __iter__(cls):
        return iter(())

    def __call__(cls, *args, **kwargs):
        if len(args) == 1 and callable(args[0]) and not kwargs:
            return args[0]  # a decorator leaves what it decorates
        return type.__call__(cls)


def stub_class(name):
    return Anything(name, (), {
        "__init_subclass__": classmethod(lambda cls, **_: None),
        "__init__": lambda self: None,
        "__call__": lambda self, *args, **_: args[0] if len(args) == 1 and callable(args[0]) else self,
        "__getattr__": lambda self, n: (_ for _ in ()).throw(AttributeError(n)) if n.startswith("__") else stub_class(n),
        "__enter__": lambda self: self,
        "__exit__": lambda self, *_: None,
    })


def is_stub(value):
    """Tells whether a value came out of a stub: nothing can be said of it."""
    return isinstance(value, Anything) or isinstance(type(value), Anything)


class Stub(types.ModuleType):
    __path__ = []
    __version__ = "99.0"

    def __getattr__(self, name):
        if name == "__all__":
            return []
        if name.startswith("__"):
            raise AttributeError(name)
        value = stub_class(name)
        setattr(self, name, value)
        return value


class StubLoader(importlib.abc.Loader):
    def create_module(self, spec):
        stubbed.add(spec.name)
        return Stub(spec.name)

    def exec_module(self, module):
        pass


class SoftLoader(importlib.abc.Loader):
    """Runs a module of the engine; one that fails becomes a stub."""

    def __init__(self, inner):
        self.inner = inner

    def create_module(self, spec):
        return self.inner.create_module(spec)

    def exec_module(self, module):
        try:
            self.inner.exec_module(module)
        except Exception as fault:
            stubbed.add(module.__name__)
            module.__stubbed_for__ = f"{type(fault).__name__}: {fault}"
            module.__class__ = Stub


class EngineFinder(importlib.abc.MetaPathFinder):
    def __init__(self, package):
        self.package = package

    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] != self.package:
            return None
        spec = importlib.machinery.PathFinder.find_spec(name, path)
        if spec is None:
            return importlib.machinery.ModuleSpec(name, StubLoader(), is_package=True)
        if spec.loader is not None:
            spec.loader = SoftLoader(spec.loader)
        return spec


class MissingFinder(importlib.abc.MetaPathFinder):
    """Asked last: what nobody else has found. Only the engine gets a stub; an installed library that asks for an
    optional one is told that it is not there."""

    def __init__(self, package):
        self.package = package

    def find_spec(self, name, path=None, target=None):
        top = name.split(".")[0]
        if top in sys.stdlib_module_names:
            return None
        frame = sys._getframe(1)
        while frame and ("importlib" in frame.f_code.co_filename or frame.f_code.co_filename == __file__):
            frame = frame.f_back
        asking = (frame.f_globals.get("__name__") or "").split(".")[0] if frame else ""
        if asking != self.package and not isinstance(sys.modules.get(top), Stub):
            return None
        return importlib.machinery.ModuleSpec(name, StubLoader(), is_package=True)


def install(package):
    """Makes the modules of a package importable; call it once, before the first import."""
    sys.meta_path.insert(0, EngineFinder(package))
    sys.meta_path.append(MissingFinder(package))
