export * from '@isthmus/sdk/server';
