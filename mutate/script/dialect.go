package script

import (
	"strings"
	"sync"

	"github.com/skill-evolve/evolve/mutate/script/acts"
)

// A dialect is what of a language is pure: it computes, and neither reads nor changes
// anything outside of the script's values. What is not listed here is a finding unless
// the parent does it.
type dialect struct {
	lang Language
	// pure are names of the language and of modules, dotted. A module still has to be
	// imported by the parent.
	pure map[string]bool
	// methods of strings, lists, dicts and regular expressions.
	methods map[string]bool
	// always are findings unless the parent has the same code.
	always map[string]bool
	exits  map[string]bool
	// builtins are names that may not be given to anything else.
	builtins map[string]bool
	// narrow are the exceptions whose handling hides no decision.
	narrow map[string]bool
	// require is what loads a module by name, "" if the language has a statement.
	require string
}

// required is the module of `require("fs")`.
func (d *dialect) required(n *node, s *scope) (string, bool) {
	if d.require == "" || len(n.Kids) != 2 || n.Kids[0].Op != "name" || n.Kids[0].Name != d.require || s.find(d.require) != nil {
		return "", false
	}
	if a := n.Kids[1]; a.Op == "const" && a.Type == "str" {
		return strings.TrimPrefix(a.Name, "node:"), true
	}
	return "", false
}

// reflective attributes lead from any value to the interpreter.
func reflective(name string) bool {
	return strings.HasPrefix(name, "__") || reflection[name]
}

var reflection = acts.Set("constructor prototype caller callee gi_frame gi_code f_globals f_locals f_builtins f_back",
	"tb_frame tb_next cr_frame func_globals mro format_map call apply bind mainModule binding valueOf")

var pythonDialect = sync.OnceValue(func() *dialect {
	return &dialect{
		lang: Python,
		pure: acts.Set("len str int float bool list dict set tuple sorted any all min max enumerate zip range map filter isinstance",
			"repr iter next round divmod chr print abs sum reversed frozenset bytes ord __name__ str.lower str.strip str.upper",
			"re.search re.match re.fullmatch re.compile re.findall re.finditer re.sub re.split re.escape re.error",
			"re.I re.IGNORECASE re.M re.MULTILINE re.S re.DOTALL re.X re.VERBOSE re.A re.ASCII",
			"json.load json.loads json.dumps json.JSONDecodeError sys.stdin sys.stdin.read sys.stdin.buffer.read sys.stdin.readline sys.stderr sys.stderr.write sys.stderr.flush",
			"sys.stdout.flush shlex.split shlex.quote os.path.basename os.path.dirname os.path.join os.path.normpath",
			"os.path.splitext os.path.isabs posixpath.normpath posixpath.basename posixpath.join fnmatch.fnmatch fnmatch.fnmatchcase",
			"ValueError KeyError TypeError IndexError AttributeError UnicodeDecodeError LookupError UnicodeError"),
		methods: acts.Set("strip lstrip rstrip split rsplit splitlines lower upper casefold title startswith endswith replace join find rfind",
			"index count partition rpartition removeprefix removesuffix isdigit isalpha isalnum isspace isupper islower zfill ljust rjust",
			"get items keys values copy append extend add update setdefault union intersection difference issubset issuperset sort",
			"search match fullmatch findall finditer sub group groups groupdict start end span encode decode format expandtabs isdisjoint translate pattern lastindex rindex isidentifier isnumeric isdecimal swapcase center pop insert remove discard"),
		always: acts.Set("eval exec compile __import__ getattr setattr delattr hasattr globals locals vars breakpoint importlib.import_module",
			"runpy.run_path runpy.run_module builtins __builtins__ types.FunctionType code.InteractiveInterpreter os.system os.popen"),
		exits: acts.Set("sys.exit"),
		builtins: acts.Set("len str int float bool list dict set tuple sorted any all min max enumerate zip range map filter isinstance",
			"repr print abs sum reversed frozenset bytes ord chr open eval exec compile getattr setattr hasattr input type object super iter next",
			"hash id vars globals locals exit quit format bytearray callable classmethod staticmethod property slice divmod pow round hex oct bin",
			"Exception BaseException SystemExit KeyboardInterrupt ValueError KeyError TypeError IndexError AttributeError RuntimeError OSError IOError",
			"FileNotFoundError PermissionError UnicodeDecodeError NotImplementedError StopIteration ImportError ModuleNotFoundError LookupError",
			"re json sys os shlex subprocess pathlib __name__ __builtins__ __file__ __import__"),
		narrow: acts.Set("ValueError KeyError TypeError IndexError AttributeError UnicodeDecodeError LookupError UnicodeError json.JSONDecodeError re.error"),
	}
})

var javaScriptDialect = sync.OnceValue(func() *dialect {
	return &dialect{
		lang: JavaScript,
		pure: acts.Set("JSON.parse JSON.stringify Math.min Math.max Math.floor Math.ceil Math.round Math.abs String Number Boolean Array.isArray Array.from",
			"Object.keys Object.values Object.entries Object.fromEntries Object.hasOwn String.fromCharCode Math.sign RegExp Set Map Error TypeError SyntaxError parseInt parseFloat isNaN undefined NaN Infinity console.error console.warn console.log",
			"Number.isInteger Number.isFinite Number.isNaN String.raw Array Object.freeze process.stderr.write process.stdin",
			"path.basename path.dirname path.join path.normalize path.extname path.isAbsolute path.posix.normalize path.sep URL path.relative"),
		methods: acts.Set("trim trimStart trimEnd split toLowerCase toUpperCase startsWith endsWith includes indexOf lastIndexOf replace replaceAll",
			"slice substring charAt charCodeAt at padStart padEnd repeat concat match matchAll search test exec join map filter some every find findIndex",
			"reduce flat flatMap push sort reverse forEach keys values entries has get set add length source flags toString normalize",
			"groups index input size lastIndex message pop shift unshift codePointAt findLast findLastIndex toSorted toReversed toFixed localeCompare"),
		always: acts.Set("eval Function Function.prototype setTimeout setInterval setImmediate queueMicrotask import globalThis global window self vm.runInThisContext vm.runInNewContext",
			"vm.Script Reflect Proxy WebAssembly process.binding process.mainModule process.dlopen Object.defineProperty Object.setPrototypeOf Object.assign child_process.exec child_process.execSync arguments this"),
		exits: acts.Set("process.exit"),
		builtins: acts.Set("JSON Math String Number Boolean Array Object RegExp Set Map Error TypeError SyntaxError parseInt parseFloat isNaN undefined NaN Infinity",
			"console process require module exports globalThis global eval Function Symbol Promise Proxy Reflect Date Buffer URL setTimeout setInterval",
			"clearTimeout __dirname __filename fetch WeakMap WeakSet BigInt Intl Atomics TextDecoder TextEncoder AbortController fs path os child_process arguments"),
		narrow:  acts.Set(),
		require: "require",
	}
})
