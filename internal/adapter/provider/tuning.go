package provider

// Tuning is what requests to a model carry because of its family. The catalogue's table
// of families has the values; a wire API writes those that it has fields for. The zero
// value is right for a model of which nothing is known.
type Tuning struct {
	Think Think
	// Binds: thinking is bound to what precedes it. The server is asked to drop a block
	// that is behind something else, in place of refusing the request.
	Binds bool
	// KeepThinking asks to keep the thinking of earlier turns: the cache ends where it is
	// removed.
	KeepThinking bool
	Display      string   // what of the thinking is returned; "": the server's default
	Betas        []string // Anthropic's betas that the above and TaskBudget need
	// TaskBudget is how many tokens a task may take: the server tells the model what is left.
	// 0: it does not.
	TaskBudget int
	// LongCache: the server is known to keep its cache for an hour if that is asked for.
	LongCache bool

	// Reasons: it is one of OpenAI's reasoning models, which have other parameters.
	Reasons   bool
	Verbosity string // of the text
	Context   string // whose reasoning the model sees: all_turns

	// Freeform is a tool that the model was trained to call with a plain text.
	Freeform *Freeform

	// Members are more members of each request: `,"name":value`.
	Members string
	// NoLimit: no limit of the reply is sent as long as the whole fits.
	NoLimit bool
}

// Freeform is the form of a tool whose only argument is a text: where the server takes such
// tools, the text is sent without JSON around it, and follows a grammar.
type Freeform struct {
	Tool, Arg string // the tool and its argument
	Doc       string // in place of the tool's own, which tells of the JSON form
	Grammar   string // in Lark's notation
}

// Think is the form in which a model takes a reasoning effort.
type Think int

// The forms. ByEffort is the API's usual one: adaptive thinking, reasoning.effort, a
// level.
const (
	ByEffort Think = iota
	ByBudget       // a number of tokens
	ByBoth         // a number of tokens, and the effort
	Never          // not at all
)
