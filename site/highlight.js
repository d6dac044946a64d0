/** Colours of code, for the light and the dark theme at once. */
import {
  bundledLanguages,
  bundledThemes,
  codeToTokensWithThemes,
  createOnigurumaEngine,
  createShikiInternal,
  loadBuiltinWasm,
} from '@gerrit0/mini-shiki';

const LANGUAGES = [
  'ts',
  'js',
  'json',
  'jsonc',
  'bash',
  'yaml',
  'toml',
  'ini',
  'http',
  'html',
  'nginx',
  'docker',
];
const ALIASES = {
  sh: 'bash',
  shell: 'bash',
  console: 'bash',
  typescript: 'ts',
  javascript: 'js',
  dockerfile: 'docker',
};

/** Resolves with a function that makes HTML of code. Code in a language that it does not know has no colours. */
export async function createHighlighter() {
  await loadBuiltinWasm();
  const internal = await createShikiInternal({
    engine: createOnigurumaEngine(),
    themes: [bundledThemes['github-light'], bundledThemes['github-dark']],
    langs: LANGUAGES.map((name) => bundledLanguages[name]),
  });
  return (code, language) => {
    const lang = ALIASES[language] ?? language;
    if (!LANGUAGES.includes(lang)) return escapeHtml(code);
    const themes = { light: 'github-light', dark: 'github-dark' };
    const lines = codeToTokensWithThemes(internal, code.replace(/\n$/, ''), { lang, themes });
    return `${lines.map((tokens) => tokens.map(toSpan).join('')).join('\n')}\n`;
  };
}

function toSpan({ content, variants }) {
  const text = escapeHtml(content);
  if (content.trim() === '') return text;
  return `<span style="--l:${variants.light.color};--d:${variants.dark.color}">${text}</span>`;
}

export function escapeHtml(text) {
  return text
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;');
}
