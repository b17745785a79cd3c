package acp

import (
	"fmt"
	"strings"
	"testing"

	"github.com/pawl-agent/pawl/internal/core/llm/llmtest"
)

// SPEC 17.2: every form of question ends when the editor's person cancels it, declines
// it, answers nothing or nonsense: nothing is done, and it is not asked without end.
func TestUnansweredQuestions(t *testing.T) {
	wrote := llmtest.Use("write", writes)
	for form, c := range map[string]struct {
		turns  []llmtest.Turn
		prompt string // that asks
		before string // a prompt before it, whose calls are allowed
	}{
		"an undo":             {[]llmtest.Turn{wrote, llmtest.Say("done")}, "/undo", "write"},
		"a rewind":            {[]llmtest.Turn{wrote, llmtest.Say("done")}, "/rewind", "write"},
		"what a rewind does":  {[]llmtest.Turn{wrote, llmtest.Say("done")}, "/rewind 1", "write"},
		"words":               {[]llmtest.Turn{llmtest.Use("ask_user", `{"question":"Which name?"}`), llmtest.Say("done")}, "ask", ""},
		"options":             {[]llmtest.Turn{llmtest.Use("ask_user", `{"question":"Which?","options":["red","blue"]}`), llmtest.Say("done")}, "ask", ""},
		"a permission":        {[]llmtest.Turn{wrote, llmtest.Say("done")}, "write", ""},
		"several permissions": {[]llmtest.Turn{llmtest.Use("write", writes, "write", `{"path":"two.txt","content":"x\n"}`), llmtest.Say("done")}, "write", ""},
	} {
		for answer, reply := range map[string]func(asks string) object{
			"cancel": func(string) object {
				return object{"result": object{"action": "cancel", "outcome": object{"outcome": "cancelled"}}}
			},
			"decline": func(string) object {
				return object{"result": object{"action": "decline", "outcome": object{"outcome": "cancelled"}}}
			},
			"empty": func(string) object {
				return object{"result": object{"action": "accept", "content": object{"answer": ""}, "outcome": object{"outcome": "selected"}}}
			},
			"nonsense": func(string) object {
				return object{"result": object{"action": "accept", "content": object{"answer": "maybe"}, "outcome": object{"outcome": "selected", "optionId": "maybe"}}}
			},
			"an error": func(string) object { return object{"error": object{"code": -32601, "message": "unknown"}} },
			"null":     func(string) object { return object{"result": nil} },
			"a list":   func(string) object { return object{"result": []int{1}} },
		} {
			for _, version := range []int{1, 2} {
				for _, words := range []bool{true, false} {
					t.Run(fmt.Sprint(form, "/", answer, "/", version, words), func(t *testing.T) {
						e := edit(t, 0, c.turns...)
						can := object{}
						if words {
							can = object{"elicitation": object{"form": object{}}}
						}
						e.result(e.request("initialize", object{"protocolVersion": version, offered(version): can}))
						e.id = e.result(e.request("session/new", object{"cwd": e.dir, "mcpServers": []object{}}))["sessionId"].(string)
						if c.before != "" {
							e.through(version, e.say(c.before), func(string) object {
								return object{"result": object{"outcome": object{"outcome": "selected", "optionId": "y"}}}
							})
						}
						had := e.has("new.txt")
						if asked := e.through(version, e.say(c.prompt), reply); asked > 3 {
							t.Errorf("asked %d times", asked)
						}
						if e.has("new.txt") != had || e.has("two.txt") {
							t.Error("something was done without an answer")
						}
					})
				}
			}
		}
	}
}

// through answers every question until what was sent has ended, and returns how many
// there were.
func (e *editor) through(version, sent int, reply func(asks string) object) (asked int) {
	e.t.Helper()
	for {
		m := e.next("a question or the end", func(m object) bool {
			method, _ := m["method"].(string)
			if method == "session/request_permission" || method == "elicitation/create" {
				return true
			}
			if version == 1 {
				return fmt.Sprint(m["id"]) == fmt.Sprint(sent) && method == ""
			}
			p, _ := m["params"].(object)
			u, _ := p["update"].(object)
			return u["state"] == "idle"
		})
		method, _ := m["method"].(string)
		if method != "session/request_permission" && method != "elicitation/create" {
			return asked
		}
		if asked++; asked > 20 {
			e.t.Fatalf("%s is asked without end: %v", method, m)
		}
		r := reply(method)
		r["id"] = m["id"]
		e.write(r)
	}
}

// A command that opens a text for the person ends where the editor cannot.
func TestPlanIsNotEditedHere(t *testing.T) {
	for _, version := range []int{1, 2} {
		e := edit(t, version, llmtest.Say("# Plan\n\n1. Do x\n   - done when: it is there\n2. Do y\n   - done when: it is there\n"))
		answer := func(string) object {
			return object{"result": object{"outcome": object{"outcome": "selected", "optionId": "n"}}}
		}
		e.through(version, e.say("/plan do x and y"), answer)
		e.through(version, e.say("/plan edit"), answer)
		if seen := fmt.Sprint(e.all); !strings.Contains(seen, "cannot open a text") {
			t.Errorf("version %d: %s", version, seen)
		}
	}
}
