// Light or dark: what the system says, until the reader says otherwise.

const kKey = 'pgdlm-theme';
const system = matchMedia('(prefers-color-scheme: dark)');

class Theme {
  private chosen = $state<string | null>(localStorage.getItem(kKey));
  private systemDark = $state(system.matches);

  constructor() {
    system.addEventListener('change', () => this.change(() => (this.systemDark = system.matches)));
    this.change(() => {});
  }

  /** The page's colours follow at once: what is drawn by hand reads them as soon as it hears of the change. */
  private change(how: () => void): void {
    how();
    document.documentElement.dataset.theme = this.dark ? 'dark' : 'light';
  }

  get dark(): boolean {
    return this.chosen ? this.chosen === 'dark' : this.systemDark;
  }

  toggle(): void {
    const next = this.dark ? 'light' : 'dark';
    localStorage.setItem(kKey, next);
    this.change(() => (this.chosen = next));
  }
}

export const theme = new Theme();
