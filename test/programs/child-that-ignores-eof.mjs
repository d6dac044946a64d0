// Its vice: it does not look at its input, so the end of it means nothing.
setInterval(() => {}, 1000);
process.stdout.write('ready\n');
