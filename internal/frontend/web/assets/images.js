// Images for a prompt: from files, the camera, the clipboard, or dropped.

import { h, button, swap, say } from './dom.js';

export const kinds = ['image/png', 'image/jpeg', 'image/gif', 'image/webp'];
const longest = 1568; // pixels: what models read of an image
const largest = 3 << 20;

// tray holds the images of a composer.
export function tray({ failed, limit = 8 }) {
  const e = h('ul', { class: 'images', 'aria-label': 'Images to send', hidden: true });
  let held = []; // { type, data, url }

  async function add(files) {
    for (const f of files) {
      if (!f.type.startsWith('image/')) continue;
      if (held.length >= limit) return failed(new Error(`At most ${limit} images can go with one prompt.`));
      try {
        const blob = await fit(f);
        const image = { type: blob.type, data: await base64(blob), url: URL.createObjectURL(blob), name: f.name || 'image' };
        held.push(image);
        draw();
        say(`${image.name} added`);
      } catch {
        failed(new Error(`${f.name || 'The image'} cannot be read as an image.`));
      }
    }
  }

  function draw() {
    e.hidden = held.length === 0;
    swap(e, held.map((image) => h('li', null,
      h('img', { src: image.url, alt: image.name }),
      button({ 'aria-label': `Remove ${image.name}` }, '×', () => drop(image)))));
  }

  function drop(image) {
    URL.revokeObjectURL(image.url);
    held = held.filter((x) => x !== image);
    draw();
  }

  return {
    e, add,
    get: () => held.map(({ type, data }) => ({ type, data })),
    count: () => held.length,
    clear() { held.forEach((x) => URL.revokeObjectURL(x.url)); held = []; draw(); },
  };
}

// fit makes a picture of a phone's camera as small as a model reads it.
async function fit(file) {
  const picture = await createImageBitmap(file);
  const scale = Math.min(1, longest / Math.max(picture.width, picture.height));
  if (scale === 1 && kinds.includes(file.type) && file.size <= largest) return file;
  const c = document.createElement('canvas');
  c.width = Math.round(picture.width * scale);
  c.height = Math.round(picture.height * scale);
  c.getContext('2d').drawImage(picture, 0, 0, c.width, c.height);
  return new Promise((done, no) => c.toBlob((b) => (b ? done(b) : no(new Error('no image'))), file.type === 'image/png' ? 'image/png' : 'image/jpeg', 0.85));
}

async function base64(blob) {
  const bytes = new Uint8Array(await blob.arrayBuffer());
  let out = '';
  for (let i = 0; i < bytes.length; i += 0x8000) out += String.fromCharCode(...bytes.subarray(i, i + 0x8000));
  return btoa(out);
}
