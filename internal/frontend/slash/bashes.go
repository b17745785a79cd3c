package slash

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/url"
	"strings"

	"github.com/pawl-agent/pawl/internal/core/cut"
	"github.com/pawl-agent/pawl/internal/core/took"
	"github.com/pawl-agent/pawl/internal/core/tool"
	"github.com/pawl-agent/pawl/internal/frontend/plain"
)

func bashes() Command {
	return Command{
		Name: "bashes", Anytime: true, Args: "[watch ID | end ID]", Doc: "list the commands that run in the background; watch one, or end it",
		Run: func(ctx context.Context, h Host, args string) error {
			jobs := h.Session().View().Jobs()
			if len(jobs) == 0 {
				fmt.Fprintln(h.Out(), "nothing runs in the background")
				return nil
			}
			if args == "" {
				id, err := pickOrList(ctx, h, "commands in the background", jobItems(jobs))
				if err != nil || id == "" {
					return err
				}
				args = id
			}
			verb, id, _ := strings.Cut(args, " ")
			for _, j := range jobs {
				switch {
				case j.ID != id:
				case verb == "watch":
					h.Watch(j.ID+" "+j.Command, j.Tail)
					return nil
				case verb == "end", verb == "kill":
					j.End()
					fmt.Fprintln(h.Out(), plain.Line("ended "+j.ID+" "+j.Command))
					return nil
				}
			}
			return errors.New("/bashes takes end ID or watch ID; without them it lists the commands")
		},
	}
}

// jobItems are what can be done with each command.
func jobItems(jobs []tool.Job) (out []Item) {
	for _, j := range jobs {
		out = append(out,
			Item{ID: "watch " + j.ID, Group: jobLine(j), Text: "watch what it prints", Live: j.Tail},
			Item{ID: "end " + j.ID, Group: jobLine(j), Text: "end it, with all its processes", Live: j.Tail})
	}
	return out
}

func jobLine(j tool.Job) string {
	return strings.TrimSpace(fmt.Sprintf("%s  %s  for %s  %s", j.ID, cut.Runes(j.Command, 80), took.Text(j.Runs), URL(j)))
}

// URL returns the address of a server on this machine that a command has printed, "" for none.
// One that is reached at every address of the machine is named as people open it.
func URL(j tool.Job) string {
	for word := range strings.FieldsSeq(j.Tail()) {
		at := strings.Index(word, "http")
		if at < 0 {
			continue
		}
		u, err := url.Parse(strings.TrimRight(plain.Line(word[at:]), ".,;:)]'\""))
		if err != nil || u.Scheme != "http" && u.Scheme != "https" {
			continue
		}
		switch ip := net.ParseIP(u.Hostname()); {
		case ip != nil && ip.IsUnspecified():
			u.Host = strings.TrimSuffix("localhost:"+u.Port(), ":")
		case u.Hostname() != "localhost" && (ip == nil || !ip.IsLoopback()):
			continue
		case ip.To4() != nil: // python prints it as one of IPv6
			u.Host = strings.TrimSuffix(ip.To4().String()+":"+u.Port(), ":")
		}
		return u.String()
	}
	return ""
}
