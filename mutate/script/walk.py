# Prints the syntax trees of Python texts as JSON. The texts are parsed and compiled, never
# imported or run. stdin: {"texts": [...]}; stdout: one {"tree": ...} or {"error", "line"} each.
import ast
import json
import sys
import warnings

sys.setrecursionlimit(3000)
SIMPLE = {
    "BinOp": "op", "UnaryOp": "op", "BoolOp": "op", "Compare": "op", "IfExp": "cond", "List": "list",
    "Tuple": "list", "Set": "list", "Starred": "star", "Return": "return", "Await": "unknown",
    "Yield": "unknown", "YieldFrom": "unknown", "Pass": "block", "Break": "break", "Continue": "continue",
    "Expr": "expr", "JoinedStr": "fstr", "FormattedValue": "fmt", "Assert": "assert",
}


class Walk:
    def __init__(self, text):
        self.lines = text.split("\n")

    def node(self, op, of, kids=(), name="", kind=""):
        line = getattr(of, "lineno", 0)
        return {"o": op, "n": name, "t": kind, "l": line, "s": self.source(of), "k": [k for k in kids if k is not None]}

    def source(self, of):
        line, end = getattr(of, "lineno", 0), getattr(of, "end_lineno", 0)
        if not line or not hasattr(of, "col_offset"):
            return ""
        first = self.lines[line - 1].encode()[of.col_offset:]
        if line == end:
            first = first[: of.end_col_offset - of.col_offset]
        return first.decode("utf-8", "replace").strip()

    def all(self, nodes):
        return [self.walk(n) for n in nodes]

    def block(self, nodes, of):
        return self.node("block", of, self.all(nodes))

    def walk(self, n):
        if n is None:
            return None
        name = type(n).__name__
        special = getattr(self, "on_" + name, None)
        if special:
            return special(n)
        if name in SIMPLE:
            ops = " ".join(type(o).__name__ for o in ast.iter_child_nodes(n) if isinstance(o, (ast.operator, ast.unaryop, ast.boolop, ast.cmpop)))
            kids = [c for c in ast.iter_child_nodes(n) if not isinstance(c, (ast.operator, ast.unaryop, ast.boolop, ast.cmpop, ast.expr_context))]
            return self.node(SIMPLE[name], n, self.all(kids), ops or name)
        return self.node("unknown", n, [], name)

    def on_Constant(self, n):
        if isinstance(n.value, str):
            return self.node("const", n, [], n.value, "str")
        if isinstance(n.value, bytes):
            return self.node("const", n, [], n.value.decode("latin-1"), "bytes")
        return self.node("const", n, [], repr(n.value), type(n.value).__name__)

    def on_Name(self, n):
        return self.node("name", n, [], n.id)

    def on_Attribute(self, n):
        return self.node("attr", n, [self.walk(n.value)], n.attr)

    def on_Subscript(self, n):
        return self.node("index", n, [self.walk(n.value), self.walk(n.slice)])

    def on_Slice(self, n):
        bounds = [self.walk(b) or self.node("const", n, [], "None", "NoneType") for b in (n.lower, n.upper, n.step)]
        return self.node("op", n, bounds, "Slice")

    def on_Call(self, n):
        return self.node("call", n, [self.walk(n.func), *self.all(n.args), *self.all(n.keywords)])

    def on_keyword(self, n):
        return self.node("kw", n, [self.walk(n.value)], n.arg or "**")

    def on_Dict(self, n):
        pairs = [self.node("pair", v, [self.walk(k), self.walk(v)]) if k else self.node("star", v, [self.walk(v)]) for k, v in zip(n.keys, n.values)]
        return self.node("dict", n, pairs)

    def on_NamedExpr(self, n):
        return self.node("assign", n, [self.walk(n.value), self.walk(n.target)], "=")

    def on_Assign(self, n):
        return self.node("assign", n, [self.walk(n.value), *self.all(n.targets)], "=")

    def on_AugAssign(self, n):
        return self.node("assign", n, [self.walk(n.value), self.walk(n.target)], type(n.op).__name__ + "=")

    def on_AnnAssign(self, n):
        kids = [self.node("expr", n.annotation, [self.walk(n.annotation)])]
        if n.value is not None:
            kids.append(self.node("assign", n, [self.walk(n.value), self.walk(n.target)], "="))
        return self.node("block", n, kids)

    def params(self, a):
        out = []
        plain = a.posonlyargs + a.args
        defaults = [None] * (len(plain) - len(a.defaults)) + a.defaults
        for p, d in [*zip(plain, defaults), *zip(a.kwonlyargs, a.kw_defaults)]:
            out.append(self.param(p, d, ""))
        for p, star in (a.vararg, "*"), (a.kwarg, "**"):
            if p:
                out.append(self.param(p, None, star))
        return out

    def param(self, p, default, star):
        kids = [self.node("default", p, [self.walk(default)])] if default else []
        if p.annotation is not None:
            kids.append(self.node("expr", p, [self.walk(p.annotation)]))
        return self.node("param", p, kids, p.arg, star)

    def on_Lambda(self, n):
        body = self.node("block", n, [self.node("return", n.body, [self.walk(n.body)], "Return")])
        return self.node("func", n, [*self.params(n.args), body])

    def on_FunctionDef(self, n, kind=""):
        kids = [self.node("deco", d, [self.walk(d)]) for d in n.decorator_list]
        if n.returns is not None:
            kids.append(self.node("expr", n.returns, [self.walk(n.returns)]))
        if getattr(n, "type_params", None):
            kids.append(self.node("unknown", n, [], "type parameters"))
        return self.node("def", n, [*kids, *self.params(n.args), self.block(n.body, n)], n.name, kind)

    def on_AsyncFunctionDef(self, n):
        return self.on_FunctionDef(n, "async")

    def on_ClassDef(self, n):
        kids = [self.node("deco", d, [self.walk(d)]) for d in n.decorator_list]
        return self.node("class", n, [*kids, *self.all(n.bases), *self.all(n.keywords), self.block(n.body, n)], n.name)

    def on_If(self, n):
        return self.node("if", n, [self.walk(n.test), self.block(n.body, n), self.block(n.orelse, n)])

    def on_While(self, n):
        return self.node("loop", n, [self.walk(n.test), self.block(n.body, n), self.block(n.orelse, n)], "while")

    def on_For(self, n):
        bind = self.node("assign", n.target, [self.node("each", n.iter, [self.walk(n.iter)]), self.walk(n.target)], "=")
        return self.node("loop", n, [bind, self.block(n.body, n), self.block(n.orelse, n)], "for")

    def comp(self, n, elements):
        kids = []
        for g in n.generators:
            if g.is_async:
                kids.append(self.node("unknown", n, [], "async comprehension"))
            kids.append(self.node("assign", g.target, [self.node("each", g.iter, [self.walk(g.iter)]), self.walk(g.target)], "="))
            kids += [self.node("filter", t, [self.walk(t)]) for t in g.ifs]
        return self.node("comp", n, kids + self.all(elements), type(n).__name__)

    def on_ListComp(self, n):
        return self.comp(n, [n.elt])

    on_SetComp = on_GeneratorExp = on_ListComp

    def on_DictComp(self, n):
        return self.comp(n, [n.key, n.value])

    def on_Try(self, n):
        kids = [self.block(n.body, n)]
        for h in n.handlers:
            bind = self.node("assign", h, [self.node("caught", h), self.node("name", h, [], h.name)], "=") if h.name else None
            kids.append(self.node("handler", h, [self.node("types", h, [self.walk(h.type)]), bind, self.block(h.body, h)]))
        kids.append(self.node("else", n, [self.block(n.orelse, n)]))
        kids.append(self.node("finally", n, [self.block(n.finalbody, n)]))
        return self.node("try", n, kids)

    def on_With(self, n):
        kids = []
        for i in n.items:
            kids.append(self.node("enter", i.context_expr, [self.walk(i.context_expr)]))
            if i.optional_vars is not None:
                kids.append(self.node("assign", i.context_expr, [self.walk(i.context_expr), self.walk(i.optional_vars)], "="))
        return self.node("with", n, [*kids, self.block(n.body, n)])

    def on_Raise(self, n):
        return self.node("raise", n, [self.walk(n.exc), self.walk(n.cause)])

    def on_Import(self, n):
        return self.node("block", n, [self.node("import", n, [], a.name, a.asname or "") for a in n.names])

    def on_ImportFrom(self, n):
        base = "." * n.level + (n.module or "")
        return self.node("block", n, [self.node("from", n, [], base + "." + a.name, a.asname or a.name) for a in n.names])

    def on_Global(self, n):
        return self.node("global", n, [], " ".join(n.names), type(n).__name__.lower())

    on_Nonlocal = on_Global

    def on_Delete(self, n):
        return self.node("del", n, self.all(n.targets))


def read(text):
    try:
        tree = ast.parse(text)
        compile(text, "script", "exec", dont_inherit=True)
        w = Walk(text)
        return {"tree": w.node("block", tree, w.all(tree.body))}
    except SyntaxError as e:
        return {"error": e.msg, "line": e.lineno or 0}
    except (ValueError, RecursionError, MemoryError, OverflowError) as e:
        return {"error": "it cannot be parsed: " + type(e).__name__, "line": 0}



warnings.simplefilter("ignore")
json.dump([read(t) for t in json.load(sys.stdin)["texts"]], sys.stdout)
