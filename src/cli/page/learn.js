"use strict";
// Buttons that filter records by origin.
document.addEventListener("DOMContentLoaded", () => {
  for (const chooser of document.querySelectorAll(".chooser")) {
    const buttons = chooser.querySelectorAll("button");
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
