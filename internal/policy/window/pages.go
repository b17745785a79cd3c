package window

import (
	"bytes"
	"encoding/binary"
	"iter"
	"slices"
	"sort"
)

// pageSize is after how many bytes a page is full. A longer string has a page of its own.
const pageSize = 16 << 10

// pages is a list of byte strings, one after the other in pages that are only appended to:
// a short one takes a byte more than it has, and no pointer.
type pages struct {
	list []page
	n    int
}

// page has strings, each behind its length; the first one is number first of the list.
type page struct {
	first int
	data  []byte
}

func (p *pages) len() int { return p.n }

// add appends a string.
func (p *pages) add(s []byte) {
	size := len(s) + binary.MaxVarintLen64
	if k := len(p.list) - 1; k < 0 || len(p.list[k].data)+size > pageSize {
		room := size
		if k >= 0 {
			room = max(size, pageSize)
			if full := &p.list[k]; cap(full.data)-len(full.data) > pageSize/8 {
				full.data = bytes.Clone(full.data)
			}
		}
		p.list = append(p.list, page{first: p.n, data: make([]byte, 0, room)})
	}
	last := &p.list[len(p.list)-1]
	last.data = append(binary.AppendUvarint(last.data, uint64(len(s))), s...)
	p.n++
}

// copied returns a copy that is not changed by what is added to the original.
func (p *pages) copied() pages { return pages{list: slices.Clone(p.list), n: p.n} }

// from yields the strings from number i on. They must not be changed.
func (p *pages) from(i int) iter.Seq[[]byte] {
	list := p.list
	return func(yield func([]byte) bool) {
		k := max(0, sort.Search(len(list), func(k int) bool { return list[k].first > i })-1)
		for ; k < len(list); k++ {
			n := list[k].first
			for data := list[k].data; len(data) > 0; n++ {
				size, w := binary.Uvarint(data)
				s := data[w : w+int(size) : w+int(size)]
				data = data[w+int(size):]
				if n >= i && !yield(s) {
					return
				}
			}
		}
	}
}

// at returns string number i.
func (p *pages) at(i int) []byte {
	for s := range p.from(i) {
		return s
	}
	return nil
}
