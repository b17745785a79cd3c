// Small drawings, made by calls.

import { s } from './dom.js';

const paths = {
  send: ['M12 19V5', 'M5 12l7-7 7 7'],
  stop: ['M6 6h12v12H6z', 'M10 10h4v4h-4z'],
  image: ['M4 5h16v14H4z', 'M4 16l5-5 4 4 3-3 4 4', 'M15 9h.01'],
  camera: ['M4 8h4l2-3h4l2 3h4v11H4z', 'M12 16.5a3.2 3.2 0 1 0 0-6.4 3.2 3.2 0 0 0 0 6.4z'],
  back: ['M15 5l-7 7 7 7'],
  more: ['M5 12h.01', 'M12 12h.01', 'M19 12h.01'],
  plus: ['M12 5v14', 'M5 12h14'],
  bell: ['M6 17V11a6 6 0 0 1 12 0v6l2 2H4z', 'M10 21h4'],
};

export const icon = (name) => s('svg', { viewBox: '0 0 24 24', 'aria-hidden': 'true', focusable: 'false' }, paths[name].map((d) => s('path', { d })));
