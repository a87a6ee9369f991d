import { render } from "preact";
import { Store } from "./live/store.ts";
import { applyTheme, storedTheme } from "./live/theme.ts";
import { App } from "./views/app.tsx";

applyTheme(storedTheme());
const store = new Store();
const root = document.getElementById("app");
if (root !== null) render(<App store={store} />, root);
void store.follow();
