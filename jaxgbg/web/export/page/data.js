// Unpack arrays from the text that Python packed them into.

const KINDS = { Int8Array, Int16Array, Int32Array, Uint8Array, Uint16Array, Uint32Array, Float32Array };

async function inflated(text) {
  const letters = atob(text);
  const bytes = new Uint8Array(letters.length);
  for (let at = 0; at < letters.length; at++) bytes[at] = letters.charCodeAt(at);
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
  return new Uint8Array(await new Response(stream).arrayBuffer());
}

// `entries` say of each array its kind, its length and how many of its entries are there: all, or
// those that are not 0, behind the gaps between them.
export async function unpack(entries, text) {
  const bytes = await inflated(text);
  let at = 0;
  return entries.map(([kind, length, active]) => {
    const array = new KINDS[kind](length);
    const count = active < 0 ? length : active;
    const places = active < 0 ? null : new Uint32Array(active);
    for (let number = 0, place = -1; number < active; number++) {
      let gap = 0;
      for (let bits = 0; ; bits += 7) {
        gap |= (bytes[at] & 127) << bits;
        if (bytes[at++] < 128) break;
      }
      places[number] = place += gap >>> 0;
    }
    const entry = new Uint8Array(array.BYTES_PER_ELEMENT);
    const value = new KINDS[kind](entry.buffer);
    for (let number = 0; number < count; number++) {
      for (let byte = 0; byte < entry.length; byte++) entry[byte] = bytes[at + byte * count + number];
      array[places ? places[number] : number] = value[0];
    }
    at += count * entry.length;
    return array;
  });
}
