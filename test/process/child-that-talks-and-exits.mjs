// Its vice: it exits while most of what it said is still in the pipe.
process.stdout.write('x'.repeat(Number(process.argv[2])), () => process.exit(5));
