package route

import (
	"cmp"
	"strings"

	"github.com/pawl-agent/pawl/internal/core/lazyregexp"
)

// said is what a person says in a prompt.
type said struct {
	sentences []sentence // the person's own
	words     int
	reports   bool   // it has the form of a report, or the output of a failure in it
	trouble   string // the words by which it reports trouble
}

// look is how many bytes of a prompt are read at its beginning and at its end.
const look = 5 << 10

// failing begins the lines of output that a failure leaves.
const failing = `\s*(?:Traceback \(|panic: |goroutine \d+ \[|fatal(?: error)?: |FAIL\b|--- FAIL|npm ERR|(?i:error)(?:\[|:| TS\d)|Caused by:|Exception in|Unhandled|exit (?:status|code)|at \S.*[:(]\S|E   |[\w.$]*(?:Error|Exception)(?::|$)|\S+\.\w+:\d+(?::\d+)?:|.*\b(?:ERROR|FATAL|SIGSEGV)\b)`

var (
	failure = lazyregexp.New(`(?m)^` + failing)
	code    = lazyregexp.New("(?ms)^ *```.*?(?:^ *```.*?$|\\z)|^ *~~~.*?(?:^ *~~~.*?$|\\z)")
	// form has what reports are made of: headings, check boxes, comments and tables.
	form = lazyregexp.New(`(?m)^ *(?:#{1,6} |<!--|<details|\*\*[^*\n]+\*\*:? *$|[-*+] ?\[[ xX]?\]|[-*+ ]*\*\*[^*\n]+(?:\*\*:|:\*\*)|\|.*\| *$|!\[)`)
	// part begins a line of a list, or one with a label, such as "Expected: ".
	part = lazyregexp.New(`(?m)^ ?(?:[-*+•] |\d{1,2}[.)] |[A-Z][\w ./()-]{1,30}:(?: |$))`)
	// pasted has quotations, tagged blocks, and output up to an empty line.
	pasted    = lazyregexp.New(`(?m)^(?:>|    |\t).*$|(?s:^<[a-zA-Z][\w-]*[^>\n]*>.*?(?:</[\w-]+>|\z))|^(?:` + failing + `|//|/\*|\$ |[-+]{3} |@@ |diff --git|ok  \t|=== RUN|PASS\b|\[?\d{4}-\d\d-\d\d|(?:INFO|WARN|DEBUG|SELECT)\b|[{}()]|.*[{};]$).*(?:\n.*\S.*)*`)
	quotation = lazyregexp.New("`[^`]*`|\"(?:\\n?[^\"\\n])+\"|“(?:\\n?[^”\\n])+”|«(?:\\n?[^»\\n])+»|\\bhttps?://\\S+|(?m)^ *\\[[^\\]\\n]{1,40}\\]")
	ending    = lazyregexp.New(`[?？.!;。！]+(?:\s|$)|？|\n[ \t\r]*\n|$`)
)

// read splits a prompt into the person's own sentences.
func read(prompt string) (p said) {
	if len(prompt) > 2*look {
		prompt = strings.ToValidUTF8(prompt[:look], "") + "\n\n" + strings.ToValidUTF8(prompt[len(prompt)-look:], "")
	}
	prompt = strings.ReplaceAll(strings.TrimSpace(prompt), "\r\n", "\n")
	prose := code().ReplaceAllString(prompt, "\n\n")
	p.reports = failure().MatchString(prompt) || form().MatchString(prose) || len(part().FindAllString(prose, 3)) > 2
	p.trouble = troubled().FindString(unnamed(strings.ToLower(quotation().ReplaceAllString(prose, ""))))
	prose = pasted().ReplaceAllString(prose, "\n\n")
	text := strings.ToLower(quotation().ReplaceAllString(part().ReplaceAllString(prose, "\n\n$0"), " ` "))
	text = strings.NewReplacer("’", "'", "(", " ", ")", " ", "*", "", ",", " , ", "，", " , ", ": ", " : ", " - ", " , ", "—", " , ", "–", " , ").Replace(text)
	for text != "" {
		at := ending().FindStringIndex(text)
		words := strings.Fields(text[:at[0]])
		if p.words += len(words); len(words) > 0 {
			if strings.ContainsAny(text[at[0]:at[1]], "?？") {
				words = append(words, "?")
			}
			p.sentences = append(p.sentences, words)
		}
		text = text[at[1]:]
	}
	if p.reports {
		p.trouble = cmp.Or(p.trouble, "the form of a report")
	}
	return p
}

// find returns the first words in the person's sentences that a phrase matches.
func (p said) find(what phrase) string {
	for _, s := range p.sentences {
		if found := s.find(what); found != "" {
			return found
		}
	}
	return ""
}
