package tools

import (
	"context"
	"errors"
	"strings"
	"time"

	"github.com/pawl-agent/pawl/internal/core/tool"
)

type askUserArgs struct {
	Question string   `json:"question" doc:"with what the person needs to know to answer it"`
	Options  []string `json:"options,omitempty" doc:"at most 8; another answer is always possible"`
}

const (
	askOptions = 8
	askText    = 4000           // bytes of a question
	askTimeout = 24 * time.Hour // a person may be away
)

// AskUser returns the tool that asks the person a question.
func AskUser() tool.Tool {
	t := tool.New("ask_user",
		"Ask the person a question that only they can answer, when a wrong guess would cost them work. Not for permission, and not for what can be found out.",
		func(tool.Env, askUserArgs) (tool.Footprint, error) { return tool.Footprint{AsksPerson: true}, nil },
		func(ctx context.Context, env tool.Env, in askUserArgs) (tool.Result, error) {
			q := strings.TrimSpace(in.Question)
			switch {
			case q == "":
				return tool.Errorf("the question is empty"), nil
			case len(q) > askText:
				return tool.Errorf("the question is %d bytes long, at most %d: shorten it", len(q), askText), nil
			case len(in.Options) > askOptions:
				return tool.Errorf("%d options are too many to choose from: at most %d", len(in.Options), askOptions), nil
			}
			var options []string
			for _, o := range in.Options {
				if o = strings.Join(strings.Fields(o), " "); o != "" {
					options = append(options, o)
				}
			}
			err := tool.ErrNobody
			answer := ""
			if env.Ask != nil {
				answer, err = env.Ask.Question(ctx, q, options)
			}
			switch {
			case errors.Is(err, tool.ErrNobody):
				r := tool.Errorf("nobody is there to answer: decide yourself, choose what is easiest to take back, and say in your final answer what you assumed")
				r.Note = "nobody to ask"
				return r, nil
			case err != nil:
				return shellFailed(ctx, err)
			case strings.TrimSpace(answer) == "":
				return tool.Result{Text: "the person gave no answer: decide yourself and say what you assumed", Note: "no answer"}, nil
			}
			return tool.Result{Text: answer, Note: "answered"}, nil
		})
	t.Facts = tool.Facts{Kind: tool.Note, Aliases: []string{"askuserquestion", "question"}, AnsweredByPerson: true, Hooks: []string{"AskUserQuestion"}}
	t.ReadOnly = true
	t.Timeout = askTimeout
	t.Example = `{"question":"Which database should the tests use?","options":["SQLite","PostgreSQL"]}`
	return t
}
