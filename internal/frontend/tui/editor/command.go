package editor

import "strings"

// This file parses vi's commands:
//
//	command = [register] [count] ( action | motion | operator [count] ( motion | object | the operator's last key ) )
//
// and in visual mode
//
//	command = [register] [count] ( action | motion | operator | object )

// command is a command of normal mode.
type command struct {
	register string
	count    int    // 0: none was given
	op       string // an operator; "" for none
	name     string // of the motion, the object or the action; "": over
	arg      string // the character for f, t and r
	over     region // what an operator of visual mode was applied to
}

// region is the size of a selection: its lines and, unless they are whole lines, the
// characters of the last one.
type region struct {
	lines, chars int
	whole        bool
}

func (c command) times() int { return max(1, c.count) }

// maxCount limits counts, so that a typing error does not fill the memory.
const maxCount = 1000

// progress is how far a command has been typed.
type progress int

const (
	unknown progress = iota // not a command
	begun                   // more keys follow
	complete
)

// parse parses the keys of a command; visual: in visual mode.
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
	k = p.longKey(k)
	if operators[k] != nil {
		if c.op = k; visual {
			return c, complete
		}
		counted := 0
		k = p.longKey(p.count(p.key(), &counted))
		if counted > 0 {
			c.count = min(c.times()*counted, maxCount)
		}
		if k == c.op || k == c.op[len(c.op)-1:] {
			k = "_" // the operator's key again: whole lines
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

// parser returns the keys one by one, and "" after the last one.
type parser struct {
	keys       []string
	incomplete bool // a key was missing
}

func (p *parser) key() string {
	if len(p.keys) == 0 {
		p.incomplete = true
		return ""
	}
	k := p.keys[0]
	p.keys = p.keys[1:]
	return k
}

// longKey returns a key; g with the key after it.
func (p *parser) longKey(k string) string {
	if k == "g" {
		return k + p.key()
	}
	return k
}

// count reads a number that starts with k into n, and returns the key after it.
func (p *parser) count(k string, n *int) string {
	for ; digit(k, *n); k = p.key() {
		*n = min(*n*10+int(k[0]-'0'), maxCount)
	}
	return k
}

// digit reports whether a key belongs to a count. A leading 0 is a motion.
func digit(k string, count int) bool {
	return len(k) == 1 && k[0] >= '0' && k[0] <= '9' && (k != "0" || count > 0)
}

func (p *parser) state() progress {
	if p.incomplete {
		return begun
	}
	return complete
}

// isRegister reports whether name is a register: a letter, 0 (copied last), " (erased or
// copied last), or _ (discards).
func isRegister(name string) bool {
	return len(name) == 1 && (name[0]|0x20 >= 'a' && name[0]|0x20 <= 'z' || strings.Contains(`0"_`, name))
}
