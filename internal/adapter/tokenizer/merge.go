package tokenizer

// merger merges the bytes of a piece into tokens: it repeatedly merges the pair of
// neighbors whose joint token has the lowest rank, the leftmost first. It reuses its
// memory for each piece.
type merger struct {
	nodes []node
	heap  []candidate
}

// node is a part of the piece, from its index up to next.
type node struct {
	prev, next int32
	rank       uint32 // rank of this part joined with the next one
}

// candidate is a pair that could be merged when it was added to the heap.
type candidate struct {
	rank uint32
	at   int32
}

func (a candidate) before(b candidate) bool {
	return a.rank < b.rank || a.rank == b.rank && a.at < b.at
}

func (m *merger) run(c *Counter, s string) int {
	n := int32(len(s))
	m.nodes, m.heap = m.nodes[:0], m.heap[:0]
	for i := int32(0); i <= n; i++ {
		m.nodes = append(m.nodes, node{prev: i - 1, next: i + 1, rank: none})
	}
	for i := int32(0); i+2 <= n; i++ {
		if r := c.rank(s[i : i+2]); r != none {
			m.nodes[i].rank = r
			m.push(candidate{r, i})
		}
	}
	parts := int(n)
	for len(m.heap) > 0 {
		top := m.pop()
		a := &m.nodes[top.at]
		if a.rank != top.rank {
			continue // another merge has changed the pair
		}
		gone := a.next
		a.next = m.nodes[gone].next
		m.nodes[gone].rank = none
		m.nodes[a.next].prev = top.at
		parts--
		for _, at := range [2]int32{top.at, a.prev} {
			if at < 0 {
				continue
			}
			b := &m.nodes[at]
			b.rank = none
			if b.next < n {
				b.rank = c.rank(s[at:m.nodes[b.next].next])
			}
			if b.rank != none {
				m.push(candidate{b.rank, at})
			}
		}
	}
	return parts
}

func (m *merger) push(x candidate) {
	m.heap = append(m.heap, x)
	h, i := m.heap, len(m.heap)-1
	for i > 0 {
		up := (i - 1) / 2
		if !h[i].before(h[up]) {
			return
		}
		h[i], h[up] = h[up], h[i]
		i = up
	}
}

func (m *merger) pop() candidate {
	h := m.heap
	top := h[0]
	last := len(h) - 1
	h[0] = h[last]
	h = h[:last]
	m.heap = h
	for i := 0; ; {
		down := 2*i + 1
		if down >= len(h) {
			return top
		}
		if down+1 < len(h) && h[down+1].before(h[down]) {
			down++
		}
		if !h[down].before(h[i]) {
			return top
		}
		h[i], h[down] = h[down], h[i]
		i = down
	}
}
