package styled

// Wrap breaks a line between words so that each part fits into columns; a
// longer word is broken anywhere. Continuation lines begin with hang.
func (l Line) Wrap(columns int, hang Line) []Line {
	if columns <= 0 || l.Width() <= columns {
		return []Line{l}
	}
	w := NewWrapper(columns, nil, hang)
	w.Add(l)
	return w.Close()
}

// Wrapper breaks a line that arrives in pieces. A row that it returned is final.
type Wrapper struct {
	columns, indent int
	hang            Line

	out    []Line
	line   Line
	at     int  // columns of line
	begun  bool // line has a word already
	blanks Line // before word
	gap    int
	word   Line // may still grow
	size   int  // columns of word
	wide   bool // word is a character of a script without blanks
}

// NewWrapper returns a Wrapper whose first row begins with lead and all others with
// hang. With columns of 0 or less, it breaks nothing.
func NewWrapper(columns int, lead, hang Line) *Wrapper {
	w := &Wrapper{columns: columns, hang: hang, indent: hang.Width()}
	if w.indent > columns/2 && columns > 0 {
		w.hang, w.indent = nil, 0
	}
	w.put(lead)
	w.at = lead.Width()
	return w
}

// Add appends a piece.
func (w *Wrapper) Add(l Line) {
	for _, s := range l {
		for text := s.Text; text != ""; {
			size, columns := next(text)
			w.add(text[:size], columns, s)
			text = text[size:]
		}
	}
}

func (w *Wrapper) add(char string, columns int, like Span) {
	switch {
	case char == " ":
		w.place()
		w.blanks = w.blanks.append(char, like)
		w.gap++
		return
	case columns == 2, w.wide:
		w.place()
	}
	w.wide = columns == 2
	w.word = w.word.append(char, like)
	w.size += columns
	if w.columns > 0 && w.size >= w.columns-w.indent { // longer than a row
		w.place()
	}
}

// place puts the waiting word on the current row, or on a new one.
func (w *Wrapper) place() {
	if len(w.word) == 0 {
		return
	}
	switch full := w.columns > 0 && w.at+w.gap+w.size > w.columns; {
	case full && (w.begun || w.at > w.indent):
		w.row()
	case !full:
		w.put(w.blanks)
		w.at += w.gap
	}
	w.put(w.word)
	w.at += w.size
	w.begun = true
	w.blanks, w.gap, w.word, w.size, w.wide = nil, 0, nil, 0, false
}

func (w *Wrapper) row() {
	w.out = append(w.out, w.line)
	w.line, w.at, w.begun = append(Line(nil), w.hang...), w.indent, false
}

// Break ends the current row.
func (w *Wrapper) Break() {
	w.place()
	w.row()
	w.blanks, w.gap = nil, 0
}

// Blanks returns the number of blanks at the end.
func (w *Wrapper) Blanks() int {
	if len(w.word) > 0 {
		return 0
	}
	return w.gap
}

// Rows returns the rows that became final since the last call.
func (w *Wrapper) Rows() []Line {
	out := w.out
	w.out = nil
	return out
}

// Close returns the remaining rows.
func (w *Wrapper) Close() []Line {
	w.place()
	return append(w.Rows(), w.line)
}

func (w *Wrapper) put(l Line) {
	for _, s := range l {
		w.line = w.line.append(s.Text, s)
	}
}

func clone(l Line) Line { return append(Line(nil), l...) }

// Clone returns an independent copy.
func (w *Wrapper) Clone() *Wrapper {
	c := *w
	c.out, c.line, c.blanks, c.word = nil, clone(w.line), clone(w.blanks), clone(w.word)
	return &c
}
