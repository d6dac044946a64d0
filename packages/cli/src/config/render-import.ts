import { describeProblem } from '@isthmus/sdk/internal/config/index.js';
import type { Style } from '../terminal/style.js';
import { oneLine } from '../terminal/text.js';
import type { ImportReport } from './import-servers.js';
import { nearFile, placeOf } from './render-check.js';

/** What a person should know about an import, line by line. The document itself is not in it. */
export function renderImport(report: ImportReport, style: Style): string[] {
  const { imported, skipped, missing, problems, document } = report;
  const lines = problems.map(
    (problem) =>
      `${style.yellow('warning:')} ${oneLine(describeProblem({ ...problem, file: nearFile(problem.file) }))}`,
  );
  for (const { name, application, source, renamedFrom, alsoIn } of imported) {
    const renamed =
      renamedFrom === undefined ? '' : `, where it is ${oneLine(renamedFrom)}: that name was taken`;
    const also = alsoIn.map((each) => `${each.application} (${placeOf(each.source)})`).join(', ');
    const same = also === '' ? '' : `; the same in ${also}`;
    lines.push(`${style.bold(oneLine(name))}  from ${application} (${placeOf(source)})${renamed}${same}`);
  }
  for (const { name, application, source, reason } of skipped) {
    const place = `${application} (${placeOf(source)})`;
    lines.push(`${style.yellow('left out:')} ${oneLine(name)} of ${place}: ${oneLine(reason)}`);
  }
  if (imported.length === 0)
    lines.push('No servers in the files of the known hosts: isthmus config list shows them');
  if (missing.length > 0) {
    lines.push(`${style.yellow('not set here:')} ${missing.map(oneLine).join(', ')}; set them where it runs`);
  }
  const literal = namesWithLiterals(document.mcpServers);
  if (literal.length > 0) {
    const names = literal.map(oneLine).join(', ');
    lines.push(
      `${style.yellow('note:')} copied as they stand there, secrets or not: env and headers of ${names}`,
    );
  }
  return lines;
}

/** Servers whose variables or headers have values in the file itself. */
function namesWithLiterals(servers: ImportReport['document']['mcpServers']): string[] {
  return Object.entries(servers).flatMap(([name, { env, headers }]) => {
    const values = [...Object.values(env ?? {}), ...Object.values(headers ?? {})];
    return values.some((value) => typeof value === 'string' && value !== '' && !value.includes('${'))
      ? [name]
      : [];
  });
}
