"use strict";
// Python draws a board once; a position only sets pieces, values and marks.
function fillBoard(board, shapes, { pieces, marks, played, came, ways }) {
  const spots = [...board.querySelectorAll(".spot")];
  board.querySelectorAll(".way").forEach((path, number) => path.setAttribute("d", ways[number] ?? ""));
  spots.forEach((spot, number) => {
    spot.setAttribute("class", number === came ? "spot came" : "spot");
    spot.children[0].setAttribute("href", `#${shapes}-${pieces[number]}`);
    spot.children[1].style.fillOpacity = 0;
    spot.children[2].textContent = "";
  });
  const best = Math.max(...marks.map((mark) => mark.value ?? -Infinity));
  for (const { action, value, spot: place, words, halo } of marks) {
    const spot = spots[place];
    if (!spot) continue;
    spot.classList.toggle("best", value === best);
    spot.classList.toggle("played", action === played);
    spot.children[1].style.fillOpacity = halo;
    spot.children[2].textContent = words;
  }
}
