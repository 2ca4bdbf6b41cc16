for (const slider of document.querySelectorAll(".compare input")) {
  const follow = () => slider.parentElement.style.setProperty("--cut", slider.value + "%");
  slider.addEventListener("input", follow);
  follow();
}
