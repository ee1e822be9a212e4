package docs

import (
	"go/ast"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// readers are the functions that read a file, or a stream to its end, by package.
var readers = map[string][]string{
	"os":            {"ReadFile", "Open", "OpenFile"}, // the methods of a root too
	"io":            {"ReadAll", "Copy", "CopyBuffer"},
	"io/fs":         {"ReadFile"},
	"bufio":         {"NewReader", "NewReaderSize", "NewScanner"},
	"encoding/json": {"NewDecoder"},
	"io/ioutil":     {"ReadFile", "ReadAll"},
}

// TestReadsAreBounded: what opens a file, or reads to the end of one, does so by
// package bounded, or stands in the list of unboundedReads with the reason why it
// may. A pipe or a sparse file must not end evolve, nor hold it up.
func TestReadsAreBounded(t *testing.T) {
	found := map[string]bool{}
	eachSource(t, func(file, _ string, f *ast.File) {
		for _, decl := range f.Decls {
			name := file
			if fn, ok := decl.(*ast.FuncDecl); ok {
				name += " " + fn.Name.Name
			}
			if reads := readsIn(f, decl); len(reads) > 0 {
				found[name] = true
				if unboundedReads[name] == "" {
					t.Errorf("%s calls %s: use package bounded, or say in unboundedReads why it may", name, strings.Join(reads, ", "))
				}
			}
		}
	}, "agenttest", "agentstest", "evaltest", "browsertest", "bounded")
	for name := range unboundedReads {
		if !found[name] {
			t.Errorf("%s reads nothing any more", name)
		}
	}
	if len(found) < 20 {
		t.Errorf("%d functions read: was the tree walked?", len(found))
	}
}

// readsIn lists the calls below n that read.
func readsIn(f *ast.File, n ast.Node) (calls []string) {
	packages := map[string]string{} // name in this file → path
	for _, imp := range f.Imports {
		path, _ := strconv.Unquote(imp.Path.Value)
		name := path[strings.LastIndexByte(path, '/')+1:]
		if imp.Name != nil {
			name = imp.Name.Name
		}
		packages[name] = path
	}
	ast.Inspect(n, func(n ast.Node) bool {
		call, ok := n.(*ast.CallExpr)
		if !ok {
			return true
		}
		fn, ok := call.Fun.(*ast.SelectorExpr)
		if !ok {
			return true
		}
		x, _ := fn.X.(*ast.Ident)
		path, imported := "", false
		if x != nil {
			path, imported = packages[x.Name]
		}
		switch {
		case imported && !slices.Contains(readers[path], fn.Sel.Name):
			return true
		case !imported && fn.Sel.Name != "ReadFile" && fn.Sel.Name != "Open" && fn.Sel.Name != "OpenFile": // of a root, or of embedded files
			return true
		case fn.Sel.Name == "OpenFile" && mentions(call, "O_WRONLY"):
			return true
		case mentions(call, "LimitReader"):
			return true
		case imported && slices.ContainsFunc(call.Args, func(a ast.Expr) bool { return mentions(a, "NewReader") }): // of bytes or strings
			return true
		}
		name := fn.Sel.Name
		if x != nil {
			name = x.Name + "." + name
		}
		calls = append(calls, name)
		return true
	})
	return calls
}

// mentions tells whether a selector of that name is called or named below n.
func mentions(n ast.Node, name string) (found bool) {
	ast.Inspect(n, func(n ast.Node) bool {
		s, ok := n.(*ast.SelectorExpr)
		found = found || ok && s.Sel.Name == name
		return !found
	})
	return found
}

const (
	ownFile   = "a file of evolve's own data folder, which evolve alone writes"
	ownUnit   = "a file of the service manager that evolve wrote, in the owner's configuration"
	ofKernel  = "a file of the operating system's kernel: a line or a list of processes"
	embedded  = "embedded in this program"
	streamed  = "copies what was opened by package bounded, piece by piece"
	checkedIn = "limited by its caller"
)

// unboundedReads are the functions that read without package bounded, and why no
// file or stream that others make can end or hold up evolve there.
var unboundedReads = map[string]string{
	"harvest/redact/planted/planted.go Read":             "testdata, in tests",
	"cmd/evolve/cmd_demo.go copyTree":                    embedded,
	"cmd/evolve/cmd_demo.go newestStamp":                 embedded,
	"cmd/evolve/internal/doctor/doctor.go notWritable":   "opened, and closed again without a read",
	"cmd/evolve/cmd_report.go runReport":                 "copies what is in memory",
	"cmd/evolve/cmd_review.go typedLines":                "what the owner types",
	"cmd/evolve/internal/term/console_plain.go ReadFrom": "copies what is printed, piece by piece",
	"eval/fleet/parcel/apply.go file":                    "a tar whose sizes are limited before",
	"eval/fleet/parcel/changes.go sum":                   streamed,
	"eval/fleet/worker/attempt.go agent":                 "opens an agent, and no file",
	"eval/fleet/worker/cache.go copyOf":                  streamed,
	"eval/fleet/worker/cache.go nameOf":                  streamed,
	"store/lock/lock.go Skill":                           ownFile,
	"store/lock/lock.go lockedUnder":                     ownFile,
	"cmd/evolve/internal/timer/files.go keepFiles":       ownUnit,
	"cmd/evolve/internal/host/host.go OnBattery":         ofKernel,
	"cmd/evolve/internal/timer/install.go InPlace":       ownUnit,
	"cmd/evolve/internal/timer/install.go Uninstall":     ownUnit,
	"cmd/evolve/internal/timer/files.go unchanged":       ownUnit,
	"cmd/evolve/internal/timer/installed.go Installed":   ownUnit,
	"eval/guard/serve.go Serve":                          "what its parent process writes",
	"eval/agent/codex/session.go read":                   checkedIn,
	"eval/agent/command/command.go fingerprint":          streamed,
	"eval/agent/copilot/bridge.go accept":                "one frame, of at most maxHeader bytes",
	"eval/agent/copilot/bridge.go fromProgram":           "frames of at most as many bytes as the program may print",
	"eval/agent/process/dial.go tunnel":                  "the answer of the owner's proxy",
	"cmd/evolve/internal/owner/parents_linux.go Parents": ofKernel,
	"eval/agent/process/group_linux.go begun":            ofKernel,
	"eval/agent/process/group_linux.go strays":           ofKernel,
	"eval/agent/process/inside_linux.go start":           "one line of its own child, by a pipe that closes when that is another program",
	"eval/agent/process/scope_linux.go count":            ofKernel,
	"eval/agent/process/scope_linux.go overScope":        ofKernel,
	"eval/agent/process/watch_linux.go over":             ofKernel,
	"eval/agent/process/watch_linux.go own":              ofKernel,
	"eval/agent/process/watch_linux.go resident":         ofKernel,
	"eval/agent/process/relay_linux.go pour":             "carries a connection, piece by piece",
	"eval/agent/process/sandbox_linux.go terminate":      ofKernel,
	"eval/agent/process/wrap_unix.go guard":              "pipes of its own, in a private folder; what comes is thrown away",
	"eval/agent/process/wrap_unix.go open":               "pipes of its own, in a private folder",
	"eval/agent/process/wrap_unix.go stop":               "its own guard's two lines, with a deadline",
	"eval/agent/replay/program.go interpreter":           "the first 256 bytes",
	"eval/agent/simulated/server.go ServeHTTP":           "the simulated model, whose clients are tests and demos",
	"eval/executor.go Begin":                             "makes a workspace and reads nothing",
	"eval/fleet/coordinator/place.go Folder":             "makes a workspace and reads nothing",
	"eval/casefile/lines.go ReadLines":                   checkedIn,
	"eval/ondisk/ondisk.go Read":                         "its kind and size were looked at",
	"eval/skillcreator/evals.go evalFile":                "its kind and size were looked at",
	"eval/scratch/scratch.go Listed":                     ownFile,
	"eval/scratch/scratch.go sweep":                      ownFile,
	"eval/git/objects.go start":                          "what git prints; each object has a limit of its own",
	"eval/workspace/tree.go file":                        "a blob of the size that was counted against the tree's limit",
	"eval/workspace/tree.go packed":                      "a file of its own, which packTree wrote",
	"eval/workspace/tree.go unpack":                      "a file of its own, which packTree wrote",
	"eval/workspace/tree.go unpackFile":                  "a file of its own, which packTree wrote",
	"harvest/corpustest/manifest.go ReadManifest":        "made by the corpus' own generator",
	"harvest/entire/joined.go finish":                    "hashes what git prints, piece by piece",
	"harvest/hook/kit/lines.go Append":                   ownFile,
	"harvest/hook/bus.go Read":                           ownFile,
	"harvest/hook/bus.go Rewrite":                        ownFile,
	"harvest/hook/kit/input.go ReadValue":                "limited to MaxInput, with a deadline",
	"harvest/hook/settings/edit.go readRecord":           ownFile,
	"harvest/purge/files.go naming":                      ownFile,
	"harvest/purge/pages.go told":                        ownFile,
	"mutate/skill/install/folder.go copyHash":            streamed,
	"mutate/skill/install/site.go syncFolder":            "opens a folder",
	"mutate/skill/install/resthash.go hashFile":          streamed,
	"store/sqlite/copy.go SweepCopies":                   ownFile,
	"store/sqlite/look.go copyFile":                      ownFile,
	"store/sqlite/damage.go copyTo":                      ownFile,
	"store/store.go migrations":                          embedded,
	"store/sqlite/open.go prepareFile":                   ownFile,
	"store/underway.go readUnderway":                     ownFile,
	"tournament/report/page/html.go":                     embedded,
	"tournament/report/serve/pages.go file":              embedded,
}
