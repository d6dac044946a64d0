// Its vice: it hands all variables that it was given to whoever asks.
process.stdout.write(JSON.stringify(process.env));
