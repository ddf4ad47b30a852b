"use strict";
// Buttons that choose records by their origin.
document.addEventListener("DOMContentLoaded", () => {
  for (const sieve of document.querySelectorAll(".sieve")) {
    const buttons = sieve.querySelectorAll("button");
    buttons.forEach((button) =>
      button.addEventListener("click", () => {
        buttons.forEach((other) => other.classList.toggle("now", other === button));
        const origin = button.dataset.origin;
        for (const card of document.querySelectorAll(".records article")) {
          card.hidden = origin !== "" && card.dataset.origin !== origin;
        }
      }),
    );
  }
});
