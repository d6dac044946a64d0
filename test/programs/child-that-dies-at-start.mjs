// Its vice: it throws before it has read anything.
throw Object.assign(new Error('missing API key'), { hint: 'set WEATHER_KEY' });
