package offline

import (
	"errors"
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"path"
	"slices"
	"strings"
)

// planRename renames a Go identifier everywhere it means the same thing, or a
// word in one named file of another language.
func planRename(h *hands, in intent) {
	if in.old == in.new {
		h.Say("Both names are the same; nothing was changed.")
		return
	}
	if in.file != "" && !strings.HasSuffix(in.file, ".go") && path.Ext(in.file) != "" {
		renameWord(h, in)
		return
	}
	if token.IsKeyword(in.new) {
		h.Decline("`" + in.new + "` is a keyword of Go; nothing was changed.")
		return
	}
	r := &renamer{h: h, in: in, name: in.old[strings.LastIndexByte(in.old, '.')+1:]}
	said, err := r.rename()
	if no := declined(""); errors.As(err, &no) {
		h.Decline(string(no))
		return
	}
	if err != nil {
		h.Say(stopWords(err) + " " + putBackWords(h.putBack()))
		return
	}
	h.Say(said)
}

// declined is why a rename changes nothing.
type declined string

func (d declined) Error() string { return string(d) }

// renamer renames one Go object.
type renamer struct {
	h    *hands
	in   intent
	name string
	l    *loader
}

func (r *renamer) rename() (string, error) {
	files, err := r.h.FilesWith(`\b`+r.name+`\b`, "*.go")
	if err != nil {
		return "", err
	}
	var dirs []string
	for _, f := range files {
		if d := path.Dir(f); !slices.Contains(dirs, d) && strings.HasSuffix(f, ".go") && !skipped(f) {
			dirs = append(dirs, d)
		}
	}
	if len(dirs) == 0 {
		return "", declined("`" + r.name + "` appears in no Go file here; for another language, name the file: rename X to Y in FILE.")
	}
	module, err := r.moduleOf(dirs)
	if err != nil {
		return "", err
	}
	r.l = newLoader(r.h, module)
	for _, d := range dirs {
		if module == "" || d == module || strings.HasPrefix(d, module+"/") {
			if err := r.l.loadDir(d); err != nil {
				return "", err
			}
		}
	}
	targets, said := r.choose()
	if said != "" {
		return "", declined(said)
	}
	same := r.family(targets[0])
	if said := r.conflict(same, targets[0]); said != "" {
		return "", declined(said)
	}
	return r.apply(same, targets[0])
}

// moduleOf finds the module that the first folder belongs to.
func (r *renamer) moduleOf(dirs []string) (string, error) {
	mods, err := modules(r.h)
	if err != nil {
		return "", err
	}
	best := ""
	for _, m := range mods {
		if d := dirs[0]; (d == m || strings.HasPrefix(d, m+"/")) && len(m) > len(best) {
			best = m
		}
	}
	if len(mods) == 0 {
		return "", fmt.Errorf("there is no go.mod here, so Go names cannot be resolved")
	}
	return best, nil
}

// kindOf returns what an object is, in the words of a prompt.
func kindOf(o types.Object) string {
	switch x := o.(type) {
	case *types.Func:
		if x.Signature().Recv() != nil {
			return "method"
		}
		return "func"
	case *types.TypeName:
		return "type"
	case *types.Const:
		return "const"
	case *types.Var:
		if x.IsField() {
			return "field"
		}
		if o.Pkg() != nil && o.Parent() == o.Pkg().Scope() {
			return "var"
		}
		return "local"
	case *types.PkgName:
		return "package"
	}
	return "local"
}

// choose finds the one object that is meant, or tells why there is none.
func (r *renamer) choose() ([]types.Object, string) {
	matches := func(o types.Object) bool {
		kind := kindOf(o)
		switch r.in.what {
		case "func", "function":
			if kind != "func" && kind != "method" {
				return false
			}
		case "method", "field", "type":
			if kind != r.in.what {
				return false
			}
		case "struct", "interface":
			if kind != "type" {
				return false
			}
		case "const", "constant":
			if kind != "const" {
				return false
			}
		case "var", "variable", "local", "parameter":
			if kind != "var" && kind != "local" {
				return false
			}
		}
		if q, _, ok := strings.Cut(r.in.old, "."); ok {
			owner := r.owner(o)
			return q == owner || o.Pkg() != nil && o.Pkg().Name() == q && kind != "local"
		}
		return kind != "package"
	}
	found := map[token.Pos]types.Object{}
	for id, o := range r.l.info.Defs {
		if o == nil || id.Name != r.name || !matches(o) {
			continue
		}
		p := r.l.fset.Position(id.Pos())
		if r.in.file != "" && !samePath(r.in.file, p.Filename) && !strings.HasPrefix(p.Filename, strings.TrimSuffix(r.in.file, "/")+"/") {
			continue
		}
		found[o.Pos()] = o
	}
	all := []types.Object{}
	for _, pos := range sortedPos(found) {
		all = append(all, found[pos])
	}
	// What a package declares is meant before a method or field, and those
	// before locals.
	rank := func(o types.Object) int {
		switch kindOf(o) {
		case "func", "type", "const", "var":
			return 0
		case "method", "field":
			return 1
		}
		return 2
	}
	for want := range 3 {
		var some []types.Object
		for _, o := range all {
			if rank(o) == want {
				some = append(some, o)
			}
		}
		switch len(some) {
		case 0:
			continue
		case 1:
			return some, ""
		}
		if want == 1 && r.joined(some) {
			return some[:1], ""
		}
		var b strings.Builder
		fmt.Fprintf(&b, "`%s` names %s here, so nothing was changed. Say which, as in `rename %s to %s in FILE` or `rename TYPE.%s to %s`:", r.name, count(len(some), "thing"), r.name, r.in.new, r.name, r.in.new)
		for i, o := range some {
			if i == 10 {
				fmt.Fprintf(&b, "\n  and %d more", len(some)-i)
				break
			}
			p := r.l.fset.Position(o.Pos())
			fmt.Fprintf(&b, "\n  %s:%d (%s)", p.Filename, p.Line, kindOf(o))
		}
		return nil, b.String()
	}
	return nil, "I found no definition of `" + r.in.old + "` in this module, so nothing was changed."
}

func sortedPos(m map[token.Pos]types.Object) []token.Pos {
	var out []token.Pos
	for p := range m {
		out = append(out, p)
	}
	slices.Sort(out)
	return out
}

// owner is the type that a method or field belongs to, "" for others.
func (r *renamer) owner(o types.Object) string {
	switch x := o.(type) {
	case *types.Func:
		if recv := x.Signature().Recv(); recv != nil {
			return typeName(recv.Type())
		}
	case *types.Var:
		if x.IsField() {
			for _, f := range r.l.files {
				for _, d := range f.Decls {
					g, ok := d.(*ast.GenDecl)
					if !ok {
						continue
					}
					for _, sp := range g.Specs {
						if t, ok := sp.(*ast.TypeSpec); ok && t.Pos() <= x.Pos() && x.Pos() < t.End() {
							return t.Name.Name
						}
					}
				}
			}
		}
	}
	return ""
}

func typeName(t types.Type) string {
	if p, ok := t.(*types.Pointer); ok {
		t = p.Elem()
	}
	if n, ok := t.(*types.Named); ok {
		return n.Obj().Name()
	}
	return ""
}

// joined reports whether several methods have to be renamed together, since one
// interface asks for all of them.
func (r *renamer) joined(objs []types.Object) bool {
	same := r.family(objs[0])
	for _, o := range objs {
		if !same[o.Pos()] {
			return false
		}
	}
	return true
}

// family is the set of definitions that must change with one: for a method,
// the interfaces it satisfies and the other types that satisfy them.
func (r *renamer) family(o types.Object) map[token.Pos]bool {
	same := map[token.Pos]bool{o.Pos(): true}
	if kindOf(o) != "method" {
		return same
	}
	var named []types.Type
	for id, d := range r.l.info.Defs {
		if t, ok := d.(*types.TypeName); ok && id.Name == t.Name() && !t.IsAlias() {
			named = append(named, t.Type())
		}
	}
	method := func(t types.Type) types.Object {
		m, _, _ := types.LookupFieldOrMethod(t, true, o.Pkg(), r.name)
		if f, ok := m.(*types.Func); ok {
			return f
		}
		return nil
	}
	for grown := true; grown; {
		grown = false
		for _, i := range named {
			iface, ok := i.Underlying().(*types.Interface)
			im := method(i)
			if !ok || im == nil {
				continue
			}
			for _, t := range named {
				tm := method(t)
				if tm == nil || same[im.Pos()] == same[tm.Pos()] {
					continue
				}
				if types.Implements(t, iface) || types.Implements(types.NewPointer(t), iface) {
					same[im.Pos()], same[tm.Pos()] = true, true
					grown = true
				}
			}
		}
	}
	return same
}

// means reports whether an identifier stands for one of the definitions.
func means(o types.Object, same map[token.Pos]bool) bool {
	if o == nil {
		return false
	}
	if same[o.Pos()] {
		return true
	}
	// A field that embeds a renamed type has the type's name.
	if v, ok := o.(*types.Var); ok && v.Embedded() {
		t := v.Type()
		if p, ok := t.(*types.Pointer); ok {
			t = p.Elem()
		}
		if n, ok := t.(*types.Named); ok {
			return same[n.Obj().Pos()]
		}
	}
	return false
}

// conflict returns why the new name cannot be taken, "" where it can.
func (r *renamer) conflict(same map[token.Pos]bool, o types.Object) string {
	taken := func(x types.Object) string {
		p := r.l.fset.Position(x.Pos())
		return fmt.Sprintf("`%s` is taken already at %s:%d, so nothing was changed.", r.in.new, p.Filename, p.Line)
	}
	switch kind := kindOf(o); kind {
	case "method", "field":
		for id, d := range r.l.info.Defs {
			if d != nil && id.Name == r.in.new && (kindOf(d) == "method" || kindOf(d) == "field") && r.owner(d) == r.owner(o) && d.Pkg() != nil && d.Pkg().Path() == o.Pkg().Path() {
				return taken(d)
			}
		}
	default:
		if s := o.Parent(); s != nil {
			if x := s.Lookup(r.in.new); x != nil {
				return taken(x)
			}
		}
		// At each use the new name must not already mean something nearer.
		for id, u := range r.l.info.Uses {
			if id.Name != r.name || !means(u, same) || u.Pkg() == nil {
				continue
			}
			s := u.Pkg().Scope().Innermost(id.Pos())
			if s == nil {
				continue
			}
			if _, x := s.LookupParent(r.in.new, id.Pos()); x != nil && x.Pkg() != nil && !strings.HasPrefix(kindOf(x), "package") {
				return taken(x)
			}
		}
		// And what has the new name already must not be captured.
		for id, u := range r.l.info.Uses {
			if id.Name == r.in.new && u != nil && o.Parent() != nil && o.Parent().Contains(id.Pos()) && u.Parent() != nil && u.Parent() != o.Parent() && u.Parent().Contains(o.Pos()) {
				return taken(u)
			}
		}
	}
	return ""
}

// apply makes the change in all files at once and verifies it.
func (r *renamer) apply(same map[token.Pos]bool, target types.Object) (string, error) {
	places := map[string][]int{}
	total := 0
	note := func(id *ast.Ident, o types.Object) {
		if id.Name != r.name || !means(o, same) {
			return
		}
		p := r.l.fset.Position(id.Pos())
		if !slices.Contains(places[p.Filename], p.Offset) {
			places[p.Filename] = append(places[p.Filename], p.Offset)
			total++
		}
	}
	for id, o := range r.l.info.Defs {
		note(id, o)
	}
	for id, o := range r.l.info.Uses {
		note(id, o)
	}
	v := &verifier{h: r.h}
	if err := v.before(); err != nil {
		return "", err
	}
	var edits []edit
	for _, file := range sortedKeys(places) {
		offs := places[file]
		slices.Sort(offs)
		text := r.h.seen[file]
		for _, off := range slices.Backward(offs) {
			text = text[:off] + r.in.new + text[off+len(r.name):]
		}
		text = r.docs(text, offs)
		old, new := narrow(r.h.seen[file], text)
		edits = append(edits, edit{file, old, new})
	}
	if err := r.h.EditAll(edits); err != nil {
		return "", err
	}
	p := r.l.fset.Position(target.Pos())
	done := fmt.Sprintf("Renamed the %s `%s` (%s:%d) to `%s`: %s in %s. Other text that mentions it (comments, strings, documents) is as it was.",
		kindOf(target), r.in.old, p.Filename, p.Line, r.in.new, count(total, "place"), count(len(edits), "file"))
	return v.after(done), nil
}

// docs renames in the comment right above a declaration that begins with the
// name, as Go's comments do. offs are where the name stood in the old text.
func (r *renamer) docs(text string, offs []int) string {
	grow := len(r.in.new) - len(r.name)
	for i, off := range offs {
		at := off + i*grow
		if at > len(text) {
			continue
		}
		from := strings.LastIndexByte(text[:at], '\n') + 1
		if from == 0 {
			continue
		}
		// The first line of the block of comments above.
		start := -1
		for from > 0 {
			prev := strings.LastIndexByte(text[:from-1], '\n') + 1
			if !strings.HasPrefix(strings.TrimLeft(text[prev:from], " \t"), "//") {
				break
			}
			start, from = prev, prev
		}
		if start < 0 {
			continue
		}
		lead := strings.Index(text[start:], "//") + start + 2
		if rest, ok := strings.CutPrefix(text[lead:], " "+r.name+" "); ok {
			text = text[:lead] + " " + r.in.new + " " + rest
			// Later places moved by as much.
			for j := i + 1; j < len(offs); j++ {
				offs[j] += grow
			}
		}
	}
	return text
}
