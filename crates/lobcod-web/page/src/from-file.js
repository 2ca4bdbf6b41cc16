// Browsers start neither modules nor workers from file:// addresses. This script can still say so.
if (location.protocol === "file:") {
  const notice = /** @type {HTMLElement} */ (document.getElementById("notice"));
  const code = document.createElement("code");
  code.textContent = "lobcod studio";
  notice.append(
    "This page was opened from a file, and browsers do not start workers there. Run ",
    code,
    " in a terminal: it serves this page on your own computer. Or open the page from a web server.",
  );
  notice.hidden = false;
}
