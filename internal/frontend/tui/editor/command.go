package editor

import "strings"

// This file is the grammar of the keys of vi:
//
//	command = [register] [count] ( action | motion | operator [count] ( motion | object | the operator's last key ) )
//
// and while something is selected
//
//	command = [register] [count] ( action | motion | operator | object )

// command is a command of normal mode.
type command struct {
	register string
	count    int    // 0: none was given
	op       string // an operator; "" for none
	name     string // of the motion, the object or the action; "" for the selection
	arg      string // the character that f, t and r are about
	over     region // of the selection that an operator repeats
}

// region is the size of a selection: its lines and, unless they are whole lines, the
// characters of the last one.
type region struct {
	lines, chars int
	whole        bool
}

func (c command) times() int { return max(1, c.count) }

// limit is what a count may be: a slip of the finger does not fill the memory.
const limit = 1000

// What a sequence of keys is.
type progress int

const (
	unknown progress = iota
	begun            // more keys follow
	complete
)

// parse reads keys. visual: something is selected.
func parse(keys []string, visual bool) (c command, state progress) {
	p := parser{keys: keys}
	k := p.key()
	for first := 0; k == `"` || digit(k, first); {
		if k == `"` {
			if c.register = p.key(); c.register != "" && !isRegister(c.register) {
				return c, unknown
			}
			k = p.key()
		}
		k = p.count(k, &c.count)
		first = c.count
	}
	k = p.long(k)
	if operators[k] != nil {
		if c.op = k; visual {
			return c, complete
		}
		counted := 0
		k = p.long(p.count(p.key(), &counted))
		if counted > 0 {
			c.count = min(c.times()*counted, limit)
		}
		if k == c.op || k == c.op[len(c.op)-1:] {
			k = "_" // its own key: whole lines
		}
	}
	if k == "i" || k == "a" {
		if c.op != "" || visual {
			what := p.key()
			if what != "" && objects[what] == nil {
				return c, unknown
			}
			c.name = k + what
			return c, p.state()
		}
	}
	c.name = k
	if motions[k].to == nil && (c.op != "" || table(visual)[k].do == nil) && k != "" {
		if k == "g" {
			return c, p.state()
		}
		return c, unknown
	}
	if k != "" && strings.Contains("fFtTr", k) {
		c.arg = p.key()
	}
	return c, p.state()
}

// parser returns one key after the other, and records if there were too few.
type parser struct {
	keys []string
	few  bool
}

func (p *parser) key() string {
	if len(p.keys) == 0 {
		p.few = true
		return ""
	}
	k := p.keys[0]
	p.keys = p.keys[1:]
	return k
}

// long returns a key; for g, with the next key.
func (p *parser) long(k string) string {
	if k == "g" {
		return k + p.key()
	}
	return k
}

// count reads a number that starts with k into n, and returns the key after it.
func (p *parser) count(k string, n *int) string {
	for ; digit(k, *n); k = p.key() {
		*n = min(*n*10+int(k[0]-'0'), limit)
	}
	return k
}

// digit reports whether a key belongs to a count. A 0 that begins none is a motion.
func digit(k string, count int) bool {
	return len(k) == 1 && k[0] >= '0' && k[0] <= '9' && (k != "0" || count > 0)
}

func (p *parser) state() progress {
	if p.few {
		return begun
	}
	return complete
}

// isRegister reports whether a register has that name: letters, what was copied
// last (0), what was erased or copied last ("), and nothing (_).
func isRegister(name string) bool {
	return len(name) == 1 && (name[0]|0x20 >= 'a' && name[0]|0x20 <= 'z' || strings.Contains(`0"_`, name))
}
