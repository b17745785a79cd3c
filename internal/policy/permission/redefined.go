package permission

import "slices"

// Redefined says whether the agent changed a file with one of these base names
// in this session: what is defined there is not what a person knows any more
// (SPEC 16.4).
func (p *Policy) Redefined(names ...string) bool {
	return slices.ContainsFunc(names, func(n string) bool { return p.changed[fold(n)] })
}
