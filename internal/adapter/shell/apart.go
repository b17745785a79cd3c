package shell

import (
	"fmt"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

// This file keeps a program of the person apart from folders that others write
// (process.Program.Apart). It goes by what the variables contain, not by a list of the
// variables that programs obey, which nobody knows in full.

// Apart returns an environment without what leads to folders: entries of lists of paths,
// and variables of other forms that name a place there. Relative entries of search paths
// are removed too, since they lead to whatever folder a program works in.
func Apart(env, folders []string) []string {
	var out []string
	for _, kv := range env {
		name, value, _ := strings.Cut(kv, "=")
		if name == "PWD" || name == "OLDPWD" {
			continue
		}
		isList := searched(name) || !strings.ContainsAny(value, between) && !strings.Contains(value, "://")
		if !isList {
			words := strings.FieldsFunc(value, func(r rune) bool { return strings.ContainsRune(between, r) })
			if !slices.ContainsFunc(words, func(w string) bool { return leads(strings.TrimPrefix(w, "file://"), folders) }) {
				out = append(out, kv)
			}
			continue
		}
		list := filepath.SplitList(value)
		kept := slices.DeleteFunc(slices.Clone(list), func(entry string) bool {
			return leads(entry, folders) || searched(name) && !filepath.IsAbs(entry)
		})
		switch {
		case len(kept) == len(list):
			out = append(out, kv)
		case len(kept) > 0:
			out = append(out, name+"="+strings.Join(kept, string(filepath.ListSeparator)))
		}
	}
	return out
}

// between are the characters between the words of a variable with options.
const between = " \t\n=,;'\""

// searched reports whether a variable is a list of folders in which programs or their
// parts are looked for.
func searched(name string) bool {
	return strings.HasSuffix(strings.ToUpper(name), "PATH") || strings.HasSuffix(name, "LIB")
}

func leads(p string, folders []string) bool {
	return slices.ContainsFunc(folders, func(dir string) bool { return LeadsInto(dir, p) })
}

// LeadsInto reports whether an absolute path is a folder or lies in it, as it is or by a
// link. The end of the path need not exist.
func LeadsInto(dir, p string) bool {
	if !filepath.IsAbs(p) {
		return false
	}
	at := []string{filepath.Clean(p)}
	for up := at[0]; ; up = filepath.Dir(up) {
		if real, err := filepath.EvalSymlinks(up); err == nil {
			at = append(at, real+strings.TrimPrefix(at[0], up))
			break
		} else if up == filepath.Dir(up) {
			break
		}
	}
	return slices.ContainsFunc(at, func(p string) bool {
		rel, err := filepath.Rel(dir, p)
		return err == nil && filepath.IsLocal(rel)
	})
}

// Find finds a program by its bare name in the search path of env, outside of folders.
func Find(name string, env, folders []string) (string, error) {
	if len(folders) == 0 {
		return exec.LookPath(name)
	}
	return findApart(name, env, folders)
}

// findApart finds a program in the search path of env, outside of folders.
func findApart(name string, env, folders []string) (string, error) {
	if filepath.IsAbs(name) {
		if leads(name, folders) {
			return "", fmt.Errorf("%s lies in the workspace, where somebody else could have written it", name)
		}
		return name, nil
	}
	if filepath.Base(name) != name {
		return "", fmt.Errorf("%s is relative to the workspace, where somebody else could have written it", name)
	}
	for _, kv := range slices.Backward(env) {
		value, ok := strings.CutPrefix(kv, "PATH=")
		if !ok {
			continue
		}
		for _, dir := range filepath.SplitList(value) {
			if !filepath.IsAbs(dir) {
				continue // it leads to whatever folder pawl works in
			}
			if found, err := exec.LookPath(filepath.Join(dir, name)); err == nil && !leads(found, folders) {
				return found, nil
			}
		}
		break
	}
	return "", fmt.Errorf("%w outside the workspace", &exec.Error{Name: name, Err: exec.ErrNotFound})
}
