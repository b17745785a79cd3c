package plugin

import (
	"fmt"
	"net/url"
	"path/filepath"
	"strings"

	"github.com/pawl-agent/pawl/internal/core/lazyregexp"
)

// Source is the origin of a plugin or of a list of plugins.
type Source struct {
	From string `json:"from"`          // an address, or the path of a folder
	Ref  string `json:"ref,omitempty"` // branch, tag or commit; "": HEAD
	// Folder is its path in the repository, "" for the root.
	Folder string `json:"folder,omitempty"`
}

var (
	commitID  = lazyregexp.New(`^[0-9a-f]{40}([0-9a-f]{24})?$`)
	validRef  = lazyregexp.New(`^[A-Za-z0-9_][A-Za-z0-9._/+-]{0,199}$`)
	shorthand = lazyregexp.New(`^[A-Za-z0-9][A-Za-z0-9-]{0,38}/[A-Za-z0-9._-]{1,100}$`)
	scp       = lazyregexp.New(`^[A-Za-z0-9._-]+@[A-Za-z0-9][A-Za-z0-9.-]*:[^-/:][^:]*$`)
)

// ParseSource parses a source that a person names: https://…, ssh://…, user@host:path,
// owner/name at GitHub, or a folder relative to dir, each optionally followed by @REF or
// #REF. isFolder reports whether a folder exists.
func ParseSource(text, dir string, isFolder func(string) bool) (Source, error) {
	at := func(p string) string {
		if !filepath.IsAbs(p) {
			p = filepath.Join(dir, p)
		}
		return p
	}
	if text != "" && !strings.Contains(text, "://") && isFolder(at(text)) {
		return Source{From: at(text)}, nil
	}
	from, ref := cutRef(text)
	switch {
	case ref != "" && checkRef(ref) != nil:
		return Source{}, checkRef(ref)
	case from != "" && !strings.Contains(from, "://") && isFolder(at(from)):
		return Source{From: at(from), Ref: ref}, nil
	case shorthand().MatchString(from):
		from = "https://github.com/" + from
	}
	return Source{From: from, Ref: ref}, checkAddress(from)
}

// cutRef splits a text before @REF or #REF. An @ in the host of an address does not
// count.
func cutRef(text string) (from, ref string) {
	if i := strings.LastIndex(text, "#"); i >= 0 {
		return text[:i], text[i+1:]
	}
	begin := 0
	if i := strings.Index(text, "://"); i >= 0 {
		if begin = strings.IndexByte(text[i+3:], '/') + i + 3; begin == i+2 {
			return text, ""
		}
	} else if i := strings.Index(text, ":"); i >= 0 && scp().MatchString(text) {
		begin = i
	}
	if i := strings.LastIndex(text[begin:], "@"); i > 0 {
		return text[:begin+i], text[begin+i+1:]
	}
	return text, ""
}

// checkRef returns an error if a text is not a valid name of a branch, tag or commit.
func checkRef(ref string) error {
	if !validRef().MatchString(ref) || strings.Contains(ref, "..") || strings.Contains(ref, "//") || strings.HasSuffix(ref, "/") || strings.HasSuffix(ref, ".lock") {
		return fmt.Errorf("%.80q is not a branch, tag or commit", ref)
	}
	return nil
}

// checkAddress returns an error if plugins are not fetched from an address. Only https
// and ssh prove who answers; over others anybody could send code.
func checkAddress(from string) error {
	if scp().MatchString(from) {
		return nil
	}
	u, err := url.Parse(from)
	switch {
	case err != nil || u.Host == "" || strings.ContainsAny(from, " \t\n\x00\\") || strings.HasPrefix(u.Host, "-") || strings.HasPrefix(u.User.Username(), "-"):
		return fmt.Errorf("%.200q is neither a folder nor the address of a git repository (https://…, ssh://…, user@host:path or owner/name at GitHub)", from)
	case u.Scheme != "https" && u.Scheme != "ssh":
		return fmt.Errorf("%s: plugins are fetched by https and ssh only", from)
	case u.RawQuery != "" || u.Fragment != "":
		return fmt.Errorf("%s: the address of a repository has no ? or #", from)
	}
	if _, secret := u.User.Password(); secret {
		return fmt.Errorf("the address of %s holds a password, which would be stored: let git's credential helper know it", u.Host)
	}
	return nil
}

// local reports whether the source is a folder of this machine.
func (s Source) local() bool { return filepath.IsAbs(s.From) }

func (s Source) String() string {
	out := s.From
	if s.Ref != "" {
		out += "@" + s.Ref
	}
	if s.Folder != "" {
		out += " (" + s.Folder + ")"
	}
	return out
}
