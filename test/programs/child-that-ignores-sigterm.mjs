// Its vice: neither the end of its input nor SIGTERM ends it. It only says that they came, to whoever still listens.
for (const pipe of [process.stdout, process.stderr]) pipe.on('error', () => {});
process.on('SIGTERM', () => process.stderr.write('SIGTERM ignored\n'));
process.stdin.on('end', () => process.stderr.write('end of input ignored\n')).resume();
setInterval(() => {}, 1000);
process.stdout.write('ready\n');
