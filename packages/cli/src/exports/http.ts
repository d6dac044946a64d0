export * from '@isthmus/sdk/http';
