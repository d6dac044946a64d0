/**
 * The first line of a stack trace in a text of the server: of Node and browsers, Python, Java, Go, Rust or PHP. Only the
 * beginning of each line is matched, so that the time stays linear in the length of the text.
 */
export function stackTraceIn(text: string): string | undefined {
  // JSON writes a line break as `\\n`, and error pages as `<br>`.
  for (const raw of text.split(/\r?\n|\\n|<br\b[^>]{0,20}>/i)) {
    const line = raw.replaceAll('&nbsp;', ' ').trim();
    if (isFrame(line)) return line.slice(0, MAX_SHOWN);
  }
  return undefined;
}

function isFrame(line: string): boolean {
  const head = line.slice(0, MAX_HEAD);
  if (MARKS.some((mark) => line.includes(mark)) || /^goroutine \d{1,9} \[/.test(head)) return true;
  if (/^#\d{1,4} \//.test(head)) return /\.php\(\d{1,9}\)/.test(head);
  if (!head.startsWith('at ')) return false;
  // `at f (/app/x.js:1:2)`, possibly followed by JSON or HTML; `at com.acme.F.run(F.java:12)`.
  return /[/\\]/.test(head) ? /:\d{1,9}:\d{1,9}\b/.test(head) : /\.java:\d{1,9}\)/.test(head);
}

const MARKS = ['Traceback (most recent call last)', 'stack backtrace:'];
const MAX_HEAD = 1000;
const MAX_SHOWN = 300;
